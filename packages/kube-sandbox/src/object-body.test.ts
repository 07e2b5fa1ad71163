import { expect, test } from 'vitest';
import { BUILT_IN_KINDS, type ServedKind } from './kinds.ts';
import {
  decodeBody,
  decodeObject,
  decodeYaml,
  dropEmptyFields,
  mediaTypeOf,
  toResourceObject,
} from './object-body.ts';
import { StatusError } from './status-error.ts';

function kindOf(name: string): ServedKind {
  const kind = BUILT_IN_KINDS.find((candidate) => candidate.kind === name);
  if (kind === undefined) throw new Error(name);
  return kind;
}

const configMap = kindOf('ConfigMap');
const bytes = (text: string): Uint8Array => Buffer.from(text);

test('mediaTypeOf() ignores parameters and case', () => {
  expect(mediaTypeOf('Application/JSON; charset=utf-8')).toBe('application/json');
});

test('reads JSON and YAML by content type, JSON without one', () => {
  expect(decodeBody(bytes('{"a":1,"a":2}'), '', 'X')).toEqual({ value: { a: 2 }, duplicates: ['a'] });
  expect(decodeBody(bytes('a: [1]'), 'application/yaml', 'X').value).toEqual({ a: [1] });
  expect(() => decodeBody(bytes('{}'), 'text/plain', 'X')).toThrow(StatusError);
});

test.each(['', '{bad', '[]', '"x"', 'null'])('refuses the JSON body %s', (text) => {
  expect(() => decodeBody(bytes(text), 'application/json', 'ConfigMap')).toThrow(
    'the object provided is unrecognized (must be of type ConfigMap)',
  );
});

test('YAML that is JSON keeps its numbers exact', () => {
  expect(JSON.stringify(decodeYaml(bytes('{"a":12345678901234567890}')))).toBe('{"a":12345678901234567890}');
  expect(() => decodeYaml(bytes('- a'))).toThrow('not an object');
});

test('fills in type, orders metadata, drops what is empty in it', () => {
  const object = toResourceObject(
    { data: {}, metadata: { labels: {}, uid: '', namespace: 'b', name: 'a' } },
    configMap,
  );
  expect(JSON.stringify(object)).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b"},"data":{}}',
  );
});

test.each([
  [{ kind: 'Secret' }, 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
  [{ apiVersion: 'apps/v1' }, 'no kind "ConfigMap" is registered for version "apps/v1"'],
  [
    { metadata: [] },
    'json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
  ],
  [{ metadata: { labels: { a: 1 } } }, 'into Go struct field ObjectMeta.metadata.labels of type string'],
  [{ metadata: { finalizers: 'x' } }, 'into Go struct field ObjectMeta.metadata.finalizers of type []string'],
  [{ data: { a: 1 } }, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
  [
    { data: [] },
    'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
  ],
])('refuses %j', (value, problem) => {
  expect(() => decodeObject({ value, duplicates: [] }, configMap, 'Ignore')).toThrow(problem);
});

test('unknown fields are reported in the order of the body, duplicates behind them', () => {
  const body = { value: { odd: 1, metadata: { strange: 1 }, data: {} }, duplicates: ['data.a'] };
  expect(decodeObject(body, configMap, 'Warn').warnings).toEqual([
    'unknown field "odd"',
    'unknown field "metadata.strange"',
    'duplicate field "data.a"',
  ]);
  expect(decodeObject(body, configMap, 'Ignore').warnings).toEqual([]);
  expect(() => decodeObject(body, configMap, 'Strict')).toThrow(
    'strict decoding error: unknown field "odd", ',
  );
  expect(decodeObject({ value: { data: {} }, duplicates: [] }, configMap, 'Strict').warnings).toEqual([]);
});

test('empty data at the top of a built-in object is dropped', () => {
  const object = toResourceObject({ data: {}, immutable: null, binaryData: { a: '' } }, configMap);
  expect(Object.keys(dropEmptyFields(object))).toEqual(['kind', 'apiVersion', 'metadata', 'binaryData']);
});
