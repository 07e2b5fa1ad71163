import { errorText } from '@addon-operator/base/error-text';
import { expect, test } from 'vitest';
import { parseAdmissionResponse, parseConversionResponse } from './webhook-responses.ts';

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const DENIED = { isAllowed: false, message: '', warnings: [], patch: '' };

test('an empty admission file is no response', () => {
  expect(parseAdmissionResponse('')).toBeUndefined();
  expect(parseAdmissionResponse(' \n')).toBeUndefined();
});

test('an empty object, null and a missing flag deny without a reason', () => {
  expect(parseAdmissionResponse('{}')).toEqual(DENIED);
  expect(parseAdmissionResponse('null')).toEqual(DENIED);
  expect(parseAdmissionResponse('{"allowed":null,"message":null}')).toEqual(DENIED);
});

test('flag, reason, warnings and patch are taken over; data behind the object are ignored', () => {
  const patch = base64([{ op: 'add', path: '/a', value: 1 }]);
  const text = JSON.stringify({ allowed: true, message: 'm', warnings: ['w'], patch, extra: 1 });
  expect(parseAdmissionResponse(`${text}\nrest {`)).toEqual({
    isAllowed: true,
    message: 'm',
    warnings: ['w'],
    patch,
  });
});

test.each([
  ['allowed: true', 'it is not valid JSON'],
  ['[]', 'a JSON object is expected'],
  ['{"allowed":"true"}', "'allowed' must be true or false"],
  ['{"allowed":true', 'it is not valid JSON'],
  ['{"message":1}', "'message' must be a string"],
  ['{"warnings":"w"}', "'warnings' must be a list of strings"],
  ['{"allowed":true,"patch":[{"op":"remove","path":"/a"}]}', 'encoded in base64, not the list itself'],
  ['{"allowed":true,"patch":"@@@"}', "'patch' is not base64"],
  [`{"allowed":true,"patch":"${Buffer.from('{').toString('base64')}"}`, "'patch' does not contain JSON"],
  [`{"allowed":true,"patch":"${base64({})}"}`, "'patch' does not contain a list of operations"],
  [`{"allowed":true,"patch":"${base64([{ op: 'put', path: '/a' }])}"}`, "no valid 'op'"],
  [`{"allowed":true,"patch":"${base64([{ op: 'remove', path: 'a' }])}"}`, "no valid 'path'"],
  [`{"allowed":true,"patch":"${base64([{ op: 'add', path: '/a' }])}"}`, "has no 'value'"],
  [`{"allowed":true,"patch":"${base64([{ op: 'move', path: '/a' }])}"}`, "no valid 'from'"],
])('%s is refused: %s', (text, problem) => {
  expect(() => parseAdmissionResponse(text)).toThrow(problem);
});

test.each([
  ['the file', '{"allowed": true, "message": hunter2}'],
  ['the patch', `{"allowed":true,"patch":"${Buffer.from('[{"value": hunter2}]').toString('base64')}"}`],
])('a message about broken JSON in %s quotes nothing of it', (_place, text) => {
  let thrown: unknown;
  try {
    parseAdmissionResponse(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(errorText(thrown)).not.toContain('hunter2');
});

test('an empty conversion file is no response', () => {
  expect(parseConversionResponse('')).toBeUndefined();
  expect(parseConversionResponse(' \n')).toBeUndefined();
});

test('converted objects keep large integers as they were written', () => {
  const text = '{"convertedObjects":[{"spec":{"n":9007199254740993}}]}';
  const response = parseConversionResponse(text);
  expect(response?.type).toBe('converted');
  expect(JSON.stringify(response)).toContain('"n":9007199254740993');
});

test('failedMessage wins over objects, an empty one counts as none', () => {
  expect(parseConversionResponse('{"failedMessage":"no","convertedObjects":[]}')).toEqual({
    type: 'failed',
    message: 'no',
  });
  expect(parseConversionResponse('{"failedMessage":"","convertedObjects":[]}')).toEqual({
    type: 'converted',
    objects: [],
  });
});

test.each(['x', '[]', 'null', '{}', '{"convertedObjects":{}}', '{"failedMessage":1}'])(
  'parseConversionResponse() refuses %s',
  (text) => {
    expect(() => parseConversionResponse(text)).toThrow(/expected|must be|JSON/);
  },
);

test('a message about broken JSON quotes nothing of it', () => {
  let thrown: unknown;
  try {
    parseConversionResponse('{"convertedObjects": [{"spec": hunter2}]}');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(errorText(thrown)).not.toContain('hunter2');
});
