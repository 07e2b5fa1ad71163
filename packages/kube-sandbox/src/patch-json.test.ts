import { assert, dictionary, jsonValue, pre, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { applyJsonPatch } from './patch-json.ts';
import { StatusError } from './status-error.ts';

const document = { a: { b: 1, 'x/y': 2, 'm~n': 3 }, list: [1, 2, 3], nothing: null };

test.each([
  ['adds a field', { op: 'add', path: '/a/c', value: 3 }, { ...document, a: { ...document.a, c: 3 } }],
  ['replaces by adding', { op: 'add', path: '/list', value: [] }, { ...document, list: [] }],
  ['inserts into a list', { op: 'add', path: '/list/1', value: 9 }, { ...document, list: [1, 9, 2, 3] }],
  ['appends to a list', { op: 'add', path: '/list/-', value: 9 }, { ...document, list: [1, 2, 3, 9] }],
  ['appends by index', { op: 'add', path: '/list/3', value: 9 }, { ...document, list: [1, 2, 3, 9] }],
  ['replaces an element', { op: 'replace', path: '/list/0', value: 9 }, { ...document, list: [9, 2, 3] }],
  [
    'replaces a field',
    { op: 'replace', path: '/a/b', value: null },
    { ...document, a: { ...document.a, b: null } },
  ],
  ['replaces all', { op: 'replace', path: '', value: { x: 1 } }, { x: 1 }],
  ['removes a field', { op: 'remove', path: '/nothing' }, { a: document.a, list: document.list }],
  ['removes an element', { op: 'remove', path: '/list/1' }, { ...document, list: [1, 3] }],
  ['reads escapes', { op: 'remove', path: '/a/x~1y' }, { ...document, a: { b: 1, 'm~n': 3 } }],
  ['reads tildes', { op: 'remove', path: '/a/m~0n' }, { ...document, a: { b: 1, 'x/y': 2 } }],
  ['copies', { op: 'copy', from: '/a/b', path: '/b' }, { ...document, b: 1 }],
  ['moves', { op: 'move', from: '/list/0', path: '/list/-' }, { ...document, list: [2, 3, 1] }],
  ['tests what is so', { op: 'test', path: '/a', value: { 'x/y': 2, 'm~n': 3, b: 1 } }, document],
  ['tests for null', { op: 'test', path: '/nothing', value: null }, document],
])('%s', (_title, step, expected) => {
  const before = structuredClone(document);
  expect(applyJsonPatch(document, [step])).toEqual(expected);
  expect(document).toEqual(before);
});

test.each([
  ['remove of nothing', { op: 'remove', path: '/none' }],
  ['replace of nothing', { op: 'replace', path: '/none', value: 1 }],
  ['add below nothing', { op: 'add', path: '/none/x', value: 1 }],
  ['add behind the end', { op: 'add', path: '/list/4', value: 1 }],
  ['an index with a leading zero', { op: 'remove', path: '/list/01' }],
  ['add into a scalar', { op: 'add', path: '/a/b/c', value: 1 }],
  ['a failed test', { op: 'test', path: '/a/b', value: 2 }],
  ['a test of nothing', { op: 'test', path: '/none', value: null }],
  ['a move from nothing', { op: 'move', from: '/none', path: '/x' }],
  ['an unknown operation', { op: 'twist', path: '/a' }],
  ['a pointer without slash', { op: 'remove', path: 'a' }],
  ['a missing pointer', { op: 'remove' }],
])('refuses %s with 422', (_title, step) => {
  expect(() => applyJsonPatch(document, [step])).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 422, reason: 'Invalid' }) }),
  );
});

test('refuses what is no list of operations with 400', () => {
  for (const patch of [{ op: 'add' }, 'x', [1]]) {
    expect(() => applyJsonPatch(document, patch)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400 }) }),
    );
  }
  expect(() => applyJsonPatch(document, null)).toThrow(StatusError);
});

test('applies operations in order, each to the outcome of the one before', () => {
  const patch = [
    { op: 'add', path: '/new', value: {} },
    { op: 'add', path: '/new/deep', value: [] },
    { op: 'add', path: '/new/deep/-', value: 1 },
    { op: 'test', path: '/new/deep/0', value: 1 },
  ];
  expect(applyJsonPatch({}, patch)).toEqual({ new: { deep: [1] } });
});

test('adding and removing a field leaves any object as it was', () => {
  assert(
    property(dictionary(string(), jsonValue()), string(), jsonValue(), (fields, name, value) => {
      pre(!Object.hasOwn(fields, name) && name !== '__proto__');
      const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const patch = [
        { op: 'add', path, value },
        { op: 'remove', path },
      ];
      expect(applyJsonPatch(fields, patch)).toEqual(fields);
    }),
  );
});
