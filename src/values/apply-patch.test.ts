import { messageOf } from '@addon-operator/base/errors';
import { canonicalJson, type Json, type JsonObject } from '@addon-operator/json';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeMs } from '../../test/support/cpu-time.ts';
import { applyPatch, type PatchMode } from './apply-patch.ts';
import type { ModuleName } from './module-key.ts';
import { parseValuesPatch, type ValuesOperation } from './values-patch.ts';

const add = (path: string, value: Json): ValuesOperation => ({ op: 'add', path, value });
const remove = (path: string): ValuesOperation => ({ op: 'remove', path });
const check = (path: string, value: Json): ValuesOperation => ({ op: 'test', path, value });

test.each<{ name: string; before: JsonObject; operations: ValuesOperation[]; after: JsonObject }>([
  { name: 'add sets a key', before: { web: {} }, operations: [add('/web/a', 1)], after: { web: { a: 1 } } },
  {
    name: 'add overwrites',
    before: { web: { a: 1 } },
    operations: [add('/web/a', 2)],
    after: { web: { a: 2 } },
  },
  {
    name: 'add replaces a section',
    before: { web: { a: 1 } },
    operations: [add('/web', {})],
    after: { web: {} },
  },
  { name: 'add inserts', before: { l: [1, 3] }, operations: [add('/l/1', 2)], after: { l: [1, 2, 3] } },
  { name: 'add appends at the end', before: { l: [1] }, operations: [add('/l/1', 2)], after: { l: [1, 2] } },
  { name: 'add appends at -', before: { l: [1] }, operations: [add('/l/-', 2)], after: { l: [1, 2] } },
  { name: 'remove takes a key', before: { a: 1, b: 2 }, operations: [remove('/a')], after: { b: 2 } },
  { name: 'remove takes a null', before: { a: null }, operations: [remove('/a')], after: {} },
  {
    name: 'remove takes an item',
    before: { l: [1, 2, 3] },
    operations: [remove('/l/1')],
    after: { l: [1, 3] },
  },
  {
    name: 'a path leads through lists',
    before: { l: [{ a: 1 }] },
    operations: [add('/l/0/a', 2)],
    after: { l: [{ a: 2 }] },
  },
  {
    name: 'a path is unescaped',
    before: {},
    operations: [add('/a~1b', 1), add('/c~0d', 2)],
    after: { 'a/b': 1, 'c~d': 2 },
  },
  {
    name: 'later ones see earlier ones',
    before: {},
    operations: [add('/a', {}), add('/a/b', 1)],
    after: { a: { b: 1 } },
  },
  {
    name: 'test passes on equal values',
    before: { a: { x: 1, y: [2] } },
    operations: [check('/a', { y: [2], x: 1 })],
    after: { a: { x: 1, y: [2] } },
  },
])('applyPatch(): $name', ({ before, operations, after }) => {
  expect(applyPatch(before, operations, 'strict')).toStrictEqual(after);
});

test.each<{ name: string; before: JsonObject; operation: ValuesOperation; message: string }>([
  {
    name: 'add without a parent',
    before: {},
    operation: add('/web/a/b', 1),
    message: 'add operation does not apply: doc is missing path: "/web/a/b": missing value',
  },
  {
    name: 'add into a scalar',
    before: { a: 1 },
    operation: add('/a/b', 1),
    message: 'doc is missing path: "/a/b"',
  },
  {
    name: 'add beyond the end of a list',
    before: { l: [1] },
    operation: add('/l/2', 1),
    message: 'doc is missing path: "/l/2"',
  },
  {
    name: 'add at no index',
    before: { l: [1] },
    operation: add('/l/x', 1),
    message: 'doc is missing path: "/l/x"',
  },
  {
    name: 'add at an index with a leading zero',
    before: { l: [1] },
    operation: add('/l/00', 1),
    message: 'doc is missing path: "/l/00"',
  },
  {
    name: 'remove of a missing key',
    before: { a: 1 },
    operation: remove('/b'),
    message: 'remove operation does not apply: doc is missing path: "/b": missing value',
  },
  {
    name: 'remove of an inherited key',
    before: { a: {} },
    operation: remove('/a/toString'),
    message: 'doc is missing path: "/a/toString"',
  },
  {
    name: 'remove of the end of a list',
    before: { l: [1] },
    operation: remove('/l/1'),
    message: 'doc is missing path: "/l/1"',
  },
  {
    name: 'remove at -',
    before: { l: [1] },
    operation: remove('/l/-'),
    message: 'doc is missing path: "/l/-"',
  },
  {
    name: 'remove below a missing key',
    before: {},
    operation: remove('/a/b'),
    message: 'doc is missing path: "/a/b"',
  },
  {
    name: 'test of another value',
    before: { a: 1 },
    operation: check('/a', '1'),
    message: 'testing value /a failed: test failed',
  },
  {
    name: 'test of a missing value',
    before: {},
    operation: check('/a/b', 1),
    message: 'testing value /a/b failed: test failed',
  },
  {
    name: 'a path that is no pointer',
    before: {},
    operation: add('a', 1),
    message: '"a" is not a JSON pointer',
  },
])('applyPatch() refuses $name and keeps nothing', ({ before, operation, message }) => {
  const text = JSON.stringify(before);
  expect(() => applyPatch(before, [add('/first', 1), operation], 'strict')).toThrow(message);
  expect(JSON.stringify(before)).toBe(text);
});

test.each(['/b', '/b/c', '/l/5', '/l/x', '/a/0'])(
  'applyPatch() passes over the removal of %s when tolerant',
  (path) => {
    expect(applyPatch({ a: 1, l: [1] }, [remove(path), add('/c', 1)], 'tolerant')).toStrictEqual({
      a: 1,
      c: 1,
      l: [1],
    });
  },
);

test('applyPatch() is strict about additions even when tolerant', () => {
  expect(() => applyPatch({}, [add('/a/b', 1)], 'tolerant')).toThrow('missing value');
});

test('applyPatch() keeps __proto__ as plain data', () => {
  const patched = applyPatch({}, [add('/__proto__', {}), add('/__proto__/polluted', 1)], 'strict');
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":1}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

/** Does the same by changing a copy step by step. */
function reference(document: JsonObject, operations: readonly ValuesOperation[], mode: PatchMode): unknown {
  const root = structuredClone(document);
  for (const operation of operations) {
    const keys = operation.path.slice(1).split('/');
    const last = keys.pop() ?? '';
    let parent: unknown = root;
    for (const key of keys) parent = isContainer(parent) ? parent[key] : undefined;
    if (operation.op === 'remove') {
      const isPresent = isContainer(parent) && Object.hasOwn(parent, last) && last !== 'length';
      if (!isPresent && mode === 'strict') return 'refused';
      if (!isPresent) continue;
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else if (isContainer(parent)) delete parent[last];
    } else if (operation.op === 'add') {
      if (!isContainer(parent)) return 'refused';
      if (!Array.isArray(parent)) parent[last] = structuredClone(operation.value);
      else if (/^\d$/.test(last) && Number(last) <= parent.length)
        parent.splice(Number(last), 0, structuredClone(operation.value));
      else return 'refused';
    }
  }
  return root;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const segment = fc.constantFrom('a', 'b', '0', '1');
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join('/')}`);
// Copies: the cases share these values, and one that changed them would change the later ones.
const value = fc
  .constantFrom<Json>(1, {}, [], { a: { b: 1 } }, [[1], 2], { '0': [] })
  .map((json) => structuredClone(json));
const operation = fc.oneof(
  fc.record({ op: fc.constant('add' as const), path, value }),
  fc.record({ op: fc.constant('remove' as const), path }),
);

test('applyPatch() does what a step by step change of a copy does', () => {
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 6 }),
      fc.constantFrom<PatchMode>('strict', 'tolerant'),
      (operations, mode) => {
        const document: JsonObject = { a: { b: [1, { a: 2 }] }, b: [[0], {}] };
        let patched: unknown;
        try {
          patched = applyPatch(document, operations, mode);
        } catch {
          patched = 'refused';
        }
        expect(canonicalJson(patched)).toBe(canonicalJson(reference(document, operations, mode)));
      },
    ),
    { numRuns: 500 },
  );
});

test('applyPatch() changes neither the document nor the values of operations', () => {
  const before: JsonObject = { a: { b: [{}] } };
  const value: JsonObject = { x: { y: [] } };
  const operations = [add('/a/b/0/c', 1), add('/a/v', value), add('/a/w', value), add('/a/v/x/y/-', 2)];
  expect(applyPatch(before, operations, 'strict')).toStrictEqual({
    a: { b: [{ c: 1 }], v: { x: { y: [2] } }, w: { x: { y: [] } } },
  });
  expect(before).toStrictEqual({ a: { b: [{}] } });
  expect(value).toStrictEqual({ x: { y: [] } });
});

test('applyPatch() treats a key named __proto__ as any other', () => {
  const patched = applyPatch({ a: {} }, [add('/a/__proto__', {}), add('/a/__proto__/x', 1)], 'strict');
  expect(JSON.stringify(patched)).toBe('{"a":{"__proto__":{"x":1}}}');
  expect(JSON.stringify(applyPatch(patched, [remove('/a/__proto__')], 'strict'))).toBe('{"a":{}}');
  expect({}).not.toHaveProperty('x');
});

test('applyPatch() takes an operation for each of many keys without copying the map each time', () => {
  const operations = Array.from({ length: 20_000 }, (_, index) => add(`/web/node-${index}`, { index }));
  const startedMs = cpuTimeMs();
  const { web } = applyPatch({ web: {} }, operations, 'strict');
  // With a copy for each operation it is minutes.
  expect(cpuTimeMs() - startedMs).toBeLessThan(5_000);
  expect(Object.keys(web as JsonObject)).toHaveLength(20_000);
});

test('messages about very long paths have both ends of the path', () => {
  const path = `/web${'/a'.repeat(100_000)}/last`;
  const problems: string[] = [];
  for (const text of [
    `{"op":"add","path":"${path}","value":1}`,
    `{"op":"test","path":"${path}","value":1}`,
    `{"op":"remove","path":"${path}"}`,
    `{"op":"add","path":"${path}"}`,
    `{"op":"add","path":"${path}","value":1e999}`,
    `{"op":"move","path":"${path}"}`,
    `{"op":"add","path":"/other${path}","value":1}`,
  ])
    try {
      applyPatch({}, parseValuesPatch(text, 'values', 'web' as ModuleName), 'strict');
    } catch (error) {
      problems.push(messageOf(error));
    }
  expect(problems).toHaveLength(7);
  for (const problem of problems) {
    expect(problem.length).toBeLessThan(1_200);
    expect(problem).toMatch(/\/web(?:\/a)+.*….*(?:\/a)+\/last/);
  }
});
