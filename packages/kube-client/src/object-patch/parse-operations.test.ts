import { hasCode } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { parsePatchOperations } from './parse-operations.ts';

/** The message of the refusal; empty if the text was accepted. */
function failureOf(text: string): string {
  try {
    parsePatchOperations(text);
  } catch (error) {
    return hasCode(error, 'HOOK_OUTPUT_INVALID') ? error.message : `wrong error ${String(error)}`;
  }
  return '';
}

const target = { apiVersion: undefined, kind: 'deploy', namespace: 'web', name: 'front' };
const patching = { target, subresource: undefined, ignoreMissingObject: false };
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'web', name: 'state' },
  data: { n: '1' },
};
const create = { operation: 'Create', object: configMap };

test('parsePatchOperations() reads brackets and braces at any column', () => {
  const { data, ...object } = configMap;
  const yaml = `operation: Create\nobject: {\n"data": ${JSON.stringify(data)},\n${JSON.stringify(object).slice(1)}\n`;
  expect(parsePatchOperations(yaml)).toEqual([expect.objectContaining(create)]);
});

test('parsePatchOperations() reads YAML documents', () => {
  const text = `
operation: CreateOrUpdate
object: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: web, name: state}, data: {n: "1"}}
---
operation: MergePatch
kind: deploy
namespace: web
name: front
ignoreMissingObject: true
mergePatch: |
  spec: {replicas: 2}
---
{"operation":"JQPatch","apiVersion":"acme.io/v1","kind":"Box","namespace":"web","name":"b","subresource":"status","jqFilter":".status.phase=\\"Ready\\""}
`;
  expect(parsePatchOperations(text)).toEqual([
    { operation: 'CreateOrUpdate', object: configMap },
    {
      operation: 'MergePatch',
      ...patching,
      ignoreMissingObject: true,
      mergePatch: { spec: { replicas: 2 } },
    },
    {
      operation: 'JQPatch',
      target: { apiVersion: 'acme.io/v1', kind: 'Box', namespace: 'web', name: 'b' },
      subresource: 'status',
      ignoreMissingObject: false,
      jqFilter: '.status.phase="Ready"',
    },
  ]);
});

test.each([
  ['nothing between', JSON.stringify(create).repeat(2)],
  ['lines', `${JSON.stringify(create)}\n${JSON.stringify(create)}\n`],
  ['white space', ` \n${JSON.stringify(create, null, 2)}\t \r\n${JSON.stringify(create, null, 4)}`],
  ['separators', `---\n${JSON.stringify(create)}\n---\n${JSON.stringify(create)}\n`],
])('parsePatchOperations() reads JSON objects with %s', (_, text) => {
  expect(parsePatchOperations(text)).toEqual([create, create]);
});

test.each(['', ' \n\t\r\n', '# nothing to do\n'])(
  'parsePatchOperations() reads no operations from %j',
  (text) => {
    expect(parsePatchOperations(text)).toEqual([]);
  },
);

test('parsePatchOperations() reads field names in any case from JSON, but not from YAML', () => {
  expect(
    parsePatchOperations('{"Operation":"Delete","KIND":"deploy","nameSpace":"web","Name":"front"}'),
  ).toEqual([{ operation: 'Delete', target }]);
  expect(failureOf('Operation: Delete\nkind: deploy\nname: front')).toContain('operation is required');
  expect(failureOf('{"operation":"Delete","kind":"a","Kind":"b","name":"c"}')).toContain(
    'kind is given twice',
  );
});

test.each(['Create', 'CreateIfNotExists', 'CreateOrUpdate'])(
  'parsePatchOperations() reads %s',
  (operation) => {
    const expected = [{ operation, object: configMap }];
    expect(parsePatchOperations(JSON.stringify({ operation, object: configMap }))).toEqual(expected);
    expect(parsePatchOperations(JSON.stringify({ operation, object: JSON.stringify(configMap) }))).toEqual(
      expected,
    );
    const yaml =
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  namespace: web\n  name: state\ndata:\n  n: "1"\n';
    expect(parsePatchOperations(JSON.stringify({ operation, object: yaml }))).toEqual(expected);
  },
);

test.each(['Delete', 'DeleteInBackground', 'DeleteNonCascading'])(
  'parsePatchOperations() reads %s',
  (operation) => {
    const text = JSON.stringify({
      operation,
      kind: 'deploy',
      namespace: 'web',
      name: 'front',
      subresource: 'status',
    });
    expect(parsePatchOperations(text)).toEqual([{ operation, target }]);
  },
);

test.each([
  ['operation: Delete\nkind: deploy\nnamespace: web\nname: 12', '12'],
  [
    '{"operation":"Delete","kind":"deploy","namespace":"web","name":12345678901234567890}',
    '12345678901234567890',
  ],
])('parsePatchOperations() takes a number for a name: %j', (text, name) => {
  expect(parsePatchOperations(text)).toEqual([{ operation: 'Delete', target: { ...target, name } }]);
});

const prefix = 'kind: deploy\nnamespace: web\nname: front\n';

test.each([
  ['subresource: status', { subresource: 'status' }],
  ['subresource: /status', { subresource: 'status' }],
  ['subresource: ""', {}],
  ['subresource:', {}],
  ['namespace2: x', {}],
  ['ignoreHookError: true', {}],
  ['ignoreMissingObject: true', { ignoreMissingObject: true }],
  ['ignoreMissingObject:', {}],
  ['apiVersion: ""', {}],
  ['mergePatch: {a: 1}', {}],
])('parsePatchOperations() reads a JQPatch with %j', (line, expected) => {
  expect(parsePatchOperations(`operation: JQPatch\njqFilter: .\n${prefix}${line}`)).toEqual([
    { operation: 'JQPatch', ...patching, jqFilter: '.', ...expected },
  ]);
});

test.each([
  ['[{op: remove, path: /a}]', [{ op: 'remove', path: '/a' }]],
  ['[{op: add, path: "", value: null}]', [{ op: 'add', path: '', value: null }]],
  ['[{op: move, from: /a, path: /b}]', [{ op: 'move', from: '/a', path: '/b' }]],
  [`'[{"op":"remove","path":"/a"}]'`, [{ op: 'remove', path: '/a' }]],
  [`'[]'`, []],
])('parsePatchOperations() reads jsonPatch %s', (jsonPatch, expected) => {
  expect(parsePatchOperations(`operation: JSONPatch\n${prefix}jsonPatch: ${jsonPatch}`)).toEqual([
    { operation: 'JSONPatch', ...patching, jsonPatch: expected },
  ]);
});

test.each([
  // The text as a whole
  ['[]', 'Operation 1', 'it is a list'],
  [JSON.stringify([create]), 'Operation 1', 'it is a list'],
  ['- operation: Delete', 'Operation 1', 'it is a list'],
  ['5', 'Operation 1', 'it is not a mapping'],
  ['just words', 'Operation 1', 'it is not a mapping'],
  [`${JSON.stringify(create)}\n---\n`, 'Operation 2', 'it is empty'],
  ['---\n---\n', 'Operation 1', 'it is empty'],
  ['{\0"\0', 'NUL', 'UTF-8'],
  ['{"operation":"Delete","kind":"a","kind":"b","name":"c"}', 'value 1 at offset 0', 'the key "kind" twice'],
  ['operation: Delete\nkind: a\nkind: b\nname: c', 'nor YAML', 'in line 3'],
  [`${JSON.stringify(create)} trailing [garbage`, 'neither', 'nor YAML'],
  [JSON.stringify(create).slice(0, -1), 'value 1 at offset 0', 'nor YAML'],
  ['a: &a [*a]', 'nor YAML', 'nested deeper'],
  ['operation: Create\nobject: {kind: A, metadata: {name: a}, x: .inf}', 'nor YAML', '.inf'],
  // Common fields
  ['{}', 'Operation 1', 'operation is required'],
  ['{"operation":"create"}', 'Operation 1', 'operation must be one of Create, CreateIfNotExists'],
  ['{"operation":5}', 'Operation 1', 'operation must be a string'],
  ['{"operation":"Delete"}', 'kind is required', 'name is required'],
  ['{"operation":"Delete","kind":"a","name":"../b"}', 'Operation 1', 'name must not be'],
  ['{"operation":"Delete","kind":"a","name":".."}', 'Operation 1', 'name must not be'],
  ['{"operation":"Delete","kind":"a","name":"b","namespace":"x/y"}', 'Operation 1', 'namespace must not be'],
  ['{"operation":"Delete","kind":"a","name":true}', 'Operation 1', 'name must be a string'],
  ['{"operation":"Delete","kind":1,"name":"b"}', 'Operation 1', 'kind must be a string'],
  [
    '{"operation":"Delete","kind":"a","name":"b","ignoreHookError":"true"}',
    'Operation 1',
    'ignoreHookError must be',
  ],
  [
    `operation: JQPatch\njqFilter: .\n${prefix}ignoreMissingObject: 'true'`,
    'Operation 1',
    'ignoreMissingObject must be',
  ],
  [
    `operation: JQPatch\njqFilter: .\n${prefix}subresource: a/../b`,
    'Operation 1',
    'subresource must be one word',
  ],
  // Fields of one operation
  ['{"operation":"Create"}', 'Operation 1', 'object is required'],
  ['{"operation":"Create","object":{}}', 'Operation 1', 'object is required'],
  ['{"operation":"Create","object":""}', 'Operation 1', 'object is required'],
  ['{"operation":"Create","object":[1]}', 'Operation 1', 'object must be a mapping'],
  ['{"operation":"Create","object":"a: ["}', 'Operation 1', 'object is a string that cannot be read'],
  ['{"operation":"Create","object":"a: 1\\n---\\nb: 2"}', 'Operation 1', '2 documents instead of one'],
  ['{"operation":"Create","object":"{\\"a\\":1,\\"a\\":2}"}', 'Operation 1', 'the key "a" twice'],
  ['{"operation":"Create","object":{"a":1}}', 'object.kind is required', 'object.metadata is required'],
  [
    '{"operation":"Create","object":{"kind":"A","metadata":{}}}',
    'Operation 1',
    'object.metadata.name is required',
  ],
  [
    '{"operation":"Create","object":{"kind":"A","metadata":{"name":"a/b"}}}',
    'Operation 1',
    'object.metadata.name must not',
  ],
  [
    '{"operation":"Create","object":{"kind":"A","metadata":{"name":"a","namespace":1}}}',
    'Operation 1',
    'object.metadata.namespace must be a string',
  ],
  [`operation: JQPatch\n${prefix}`, 'Operation 1', 'jqFilter is required'],
  [`operation: JQPatch\n${prefix}jqFilter: ''`, 'Operation 1', 'jqFilter is required'],
  [`operation: MergePatch\n${prefix}`, 'Operation 1', 'mergePatch is required'],
  [`operation: MergePatch\n${prefix}mergePatch: {}`, 'Operation 1', 'mergePatch is required'],
  [`operation: MergePatch\n${prefix}mergePatch: 'null'`, 'Operation 1', 'mergePatch must be a mapping'],
  [`operation: JSONPatch\n${prefix}jsonPatch: []`, 'Operation 1', 'jsonPatch is required'],
  [`operation: JSONPatch\n${prefix}jsonPatch: {a: 1}`, 'Operation 1', 'jsonPatch must be a list'],
  [`operation: JSONPatch\n${prefix}jsonPatch: [1]`, 'Operation 1', 'jsonPatch[0] must be a mapping'],
  [
    `operation: JSONPatch\n${prefix}jsonPatch: [{op: put, path: /a}]`,
    'Operation 1',
    'jsonPatch[0].op must be one of',
  ],
  [
    `operation: JSONPatch\n${prefix}jsonPatch: [{op: remove, path: a}]`,
    'Operation 1',
    'jsonPatch[0].path must be',
  ],
  [
    `operation: JSONPatch\n${prefix}jsonPatch: [{op: remove, path: /a}, {op: add, path: /b}]`,
    'Operation 1',
    'jsonPatch[1].value is required',
  ],
  [
    `operation: JSONPatch\n${prefix}jsonPatch: [{op: copy, path: /b}]`,
    'Operation 1',
    'jsonPatch[0].from must be',
  ],
])('parsePatchOperations() refuses %j', (text, place, problem) => {
  const message = failureOf(text);
  expect(message).toContain(place);
  expect(message).toContain(problem);
});

test('parsePatchOperations() refuses the whole file for one bad operation, and shows no value of it', () => {
  const bad = { operation: 'Creates', object: { kind: 'Secret', stringData: { password: 'canary' } } };
  const message = failureOf([create, bad, create].map((each) => JSON.stringify(each)).join('\n'));
  expect(message).toContain("Operation 2 of the object patch: can't validate document");
  expect(message).not.toContain('canary');
  expect(failureOf('password: "canary\n- [')).not.toContain('canary');
});

test('parsePatchOperations() keeps numbers exact, octal file modes included', () => {
  const objectOf = (text: string): string => {
    const [operation] = parsePatchOperations(text);
    return operation !== undefined && 'object' in operation ? JSON.stringify(operation.object['n']) : '';
  };
  expect(
    objectOf(
      'operation: Create\nobject: {kind: A, metadata: {name: a}, n: [9007199254740993, -12345678901234567890]}',
    ),
  ).toBe('[9007199254740993,-12345678901234567890]');
  expect(
    objectOf('{"operation":"Create","object":{"kind":"A","metadata":{"name":"a"},"n":9007199254740993}}'),
  ).toBe('9007199254740993');
  expect(
    objectOf(
      'operation: Create\nobject: {kind: A, metadata: {name: a}, n: [0644, 0o17, 0x1F, 1_000, -7, +3, 0, 1.5, 2024-01-02, yes, 0b11]}',
    ),
  ).toBe('[420,15,31,1000,-7,3,0,1.5,"2024-01-02","yes",3]');
});

test('parsePatchOperations() understands merge keys and aliases, and refuses aliases that explode', () => {
  const text = `
operation: Create
object:
  kind: A
  metadata: {name: a}
  base: &base {x: 1, y: 2}
  copy: {<<: *base, y: 3}
`;
  expect(parsePatchOperations(text)).toMatchObject([{ object: { copy: { x: 1, y: 3 } } }]);
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(10)}]`,
  );
  expect(failureOf(['l0: &l0 x', ...levels].join('\n'))).toContain('aliases make it too large');
});

test('parsePatchOperations() lets no key reach a prototype', () => {
  const text =
    '{"operation":"Create","object":{"kind":"A","metadata":{"name":"a"},"__proto__":{"polluted":true}}}';
  expect(Object.keys(parsePatchOperations(text)[0] ?? {})).toContain('object');
  expect('polluted' in {}).toBe(false);
});

test.each(['object', 'mergePatch', 'jsonPatch'])(
  'parsePatchOperations() refuses %s beyond 9,000 levels with its path',
  (field) => {
    const operation = { object: 'Create', mergePatch: 'MergePatch', jsonPatch: 'JSONPatch' }[field];
    const textOf = (levels: number): string => {
      const inner = `${'{"a":'.repeat(levels)}12345678901234567890${'}'.repeat(levels)}`;
      const value =
        field === 'jsonPatch'
          ? `[{"op":"add","path":"/spec","value":${inner}}]`
          : `{"kind":"Gadget","metadata":{"name":"a"},"spec":${inner}}`;
      return `{"operation":"${operation}","kind":"gadget","name":"a","${field}":${value}}`;
    };
    const around = field === 'jsonPatch' ? 2 : 1;
    expect(failureOf(textOf(9_000 - around))).toBe('');
    const start = field === 'jsonPatch' ? '/0/value/a' : '/spec/a';
    for (const levels of [9_001 - around, 20_000])
      expect(failureOf(textOf(levels))).toMatch(
        new RegExp(`Operation 1.*${field} is nested deeper than 9000 levels at ${start}[/a]{80,}…[/a]{80,}$`),
      );
  },
);
