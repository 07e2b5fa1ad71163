import { expect, test } from 'vitest';
import type { ModuleName } from './module-key.ts';
import { parseValuesPatch } from './values-patch.ts';

const web = 'my-web' as ModuleName;

test.each([
  ['', []],
  [' \n ', []],
  ['{"op":"add","path":"/myWeb/a","value":1}', [{ op: 'add', path: '/myWeb/a', value: 1 }]],
  [
    '{"op":"test","path":"/myWeb/a","value":null}\n[{"op":"remove","path":"/myWeb/a"},{"op":"add","path":"/myWeb","value":{}}]',
    [
      { op: 'test', path: '/myWeb/a', value: null },
      { op: 'remove', path: '/myWeb/a' },
      { op: 'add', path: '/myWeb', value: {} },
    ],
  ],
  ['null "text" 12 {"op":"remove","path":"/myWeb/a"} true', [{ op: 'remove', path: '/myWeb/a' }]],
])('parseValuesPatch() reads %j', (text, operations) => {
  expect(parseValuesPatch(text, 'values', web)).toStrictEqual(operations);
});

test.each([
  [
    '{"op":"add"',
    'got bad json patch for values: bad json-patch data: the JSON value that starts at character 0 is broken',
  ],
  ['{"op":"remove","path":"/myWeb/a"} garbage', 'the JSON value that starts at character 34 is broken'],
  ['["add"]', 'an operation must be an object'],
  ['{"op":"add","value":1}', '"op" and "path" of an operation must be strings'],
  ['{"op":"add","path":"/myWeb/a"}', `'{"op":"add","path":"/myWeb/a"}' has no value`],
  ['{"op":"add","path":"myWeb/a","value":1}', '"myWeb/a" is not a JSON pointer'],
  ['{"op":"add","path":"","value":1}', '"" is not a JSON pointer'],
  [
    '{"op":"replace","path":"/myWeb/a","value":1}',
    `unsupported patch operation 'replace': '{"op":"replace","path":"/myWeb/a"}'`,
  ],
  ['{"op":"move","from":"/myWeb/a","path":"/myWeb/b"}', "unsupported patch operation 'move'"],
  ['{"op":"copy","from":"/myWeb/a","path":"/myWeb/b"}', "unsupported patch operation 'copy'"],
  [
    '{"op":"add","path":"/global/x","value":1}',
    "unacceptable patch operation for path 'global' (only 'myWeb' accepted)",
  ],
  [
    '{"op":"add","path":"/myWebEnabled","value":true}',
    "unacceptable patch operation for path 'myWebEnabled' (only 'myWeb' accepted)",
  ],
  ['{"op":"add","path":"/my-web/x","value":1}', "(only 'myWeb' accepted)"],
  ['{"op":"add","path":"/myWeb/a","value":[1e400]}', '/myWeb/a/0: numbers must be finite'],
  [
    `{"op":"add","path":"/myWeb/a","value":${'['.repeat(101)}${']'.repeat(101)}}`,
    'is nested deeper than 100 levels',
  ],
  [
    `{"op":"add","path":"/myWeb${'/a'.repeat(60)}","value":${'['.repeat(50)}${']'.repeat(50)}}`,
    'is nested deeper than 100 levels',
  ],
])('parseValuesPatch() refuses %s', (text, message) => {
  expect(() => parseValuesPatch(text, 'values', web)).toThrow(message);
});

test('parseValuesPatch() names the file', () => {
  expect(() => parseValuesPatch('{', 'config values', web)).toThrow('got bad json patch for config values: ');
});

test('parseValuesPatch() lets global hooks touch the global section and flags, and nothing else', () => {
  const text = '{"op":"add","path":"/global/q","value":1} {"op":"remove","path":"/webEnabled"}';
  expect(parseValuesPatch(text, 'values', 'global')).toHaveLength(2);
  expect(() =>
    parseValuesPatch('{"op":"add","path":"/otherModule/x","value":1}', 'values', 'global'),
  ).toThrow(
    "unacceptable patch operation for path 'otherModule' (only 'global' and '*Enabled' are permitted)",
  );
});

test('parseValuesPatch() never shows values', () => {
  const secret = 'hunter2-canary';
  const texts = [
    `{"op":"replace","path":"/myWeb/a","value":"${secret}"}`,
    `{"op":"add","path":"/global/a","value":"${secret}"}`,
    `{"op":"add","path":"/myWeb/a","value":"${secret}"} {"value": ${secret}`,
    `{"op":"add","path":"/myWeb/a","value":["${secret}", 1e999]}`,
  ];
  for (const text of texts) {
    let message = '';
    try {
      parseValuesPatch(text, 'values', web);
    } catch (error) {
      message = String(error);
    }
    expect(message).not.toBe('');
    expect(message).not.toContain(secret);
  }
});
