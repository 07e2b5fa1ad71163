import type { JsonObject } from '@addon-operator/json';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { GLOBAL_SECTION, type ModuleKey, type ModuleName } from '../values/module-key.ts';
import type { ValuesOperation } from '../values/values-patch.ts';
import { ValuesStore } from '../values/values-store.ts';
import { formatSetByHooks, parseSetByHooks, patchesAgain, setByHooks } from './set-by-hooks.ts';

const WEB = 'web' as ModuleName;
const FLAGS = {
  all: new Map([['db' as ModuleKey, true]]),
  hooks: new Map([['db' as ModuleKey, 'flags.sh']]),
};

function storeWith(global: JsonObject = {}): ValuesStore {
  return new ValuesStore({ global, modules: new Map([[WEB, {}]]) });
}

test('a note holds paths, flags and hooks, and no values', () => {
  const values = storeWith();
  values.applyPatch(GLOBAL_SECTION, [{ op: 'add', path: '/global/a', value: 'hunter2' }], 'a.sh');
  values.applyPatch(WEB, [{ op: 'add', path: '/web/b', value: 'hunter2' }], 'b.sh');
  const set = setByHooks({ values, dynamicFlags: FLAGS }, WEB);
  expect(set).toEqual({
    global: [{ op: 'add', path: '/global/a', hook: 'a.sh' }],
    module: [{ op: 'add', path: '/web/b', hook: 'b.sh' }],
    flags: [{ key: 'db', isEnabled: true, hook: 'flags.sh' }],
  });
  expect(formatSetByHooks(set)).not.toContain('hunter2');
  expect(parseSetByHooks(formatSetByHooks(set))).toEqual(set);
});

test.each([
  '',
  '{',
  '[]',
  'null',
  '{"global":[{"op":"test","path":"/a","hook":"h"},7],"flags":[{"key":"A"}]}',
])('a note %j says nothing', (note) => {
  expect(parseSetByHooks(note)).toEqual({ global: [], module: [], flags: [] });
});

test.each<[string, string, JsonObject, readonly object[]]>([
  ['a value', '/global/a', { a: 1 }, [{ op: 'add', path: '/global/a', value: 1 }]],
  ['a key with a slash', '/global/x~1y', { 'x/y': null }, [{ op: 'add', path: '/global/x~1y', value: null }]],
  [
    'the end of a list',
    '/global/list/-',
    { list: [1, 2] },
    [{ op: 'add', path: '/global/list/-', value: 2 }],
  ],
  [
    'a place in a list',
    '/global/list/0',
    { list: [1, 2] },
    [{ op: 'add', path: '/global/list/0', value: 1 }],
  ],
  ['a value that is gone', '/global/a/b', { a: {} }, []],
  ['a member that every object has', '/global/constructor', {}, []],
])('patchesAgain() reads %s', (_what, path, global, operations) => {
  const paths = [{ op: 'add', path, hook: 'h' } as const];
  expect(patchesAgain(paths, { global }, () => true)).toEqual(
    operations.map((operation) => ({ ...operation, hook: 'h' })),
  );
});

test('patchesAgain() leaves out what hooks wrote that do not run', () => {
  const paths = [
    { op: 'add', path: '/global/a', hook: 'gone.sh' },
    { op: 'remove', path: '/global/b', hook: 'runs.sh' },
  ] as const;
  expect(patchesAgain(paths, { global: { a: 1 } }, (hook) => hook === 'runs.sh')).toEqual([
    { op: 'remove', path: '/global/b', hook: 'runs.sh' },
  ]);
});

const key = fc.constantFrom('a', 'b', 'c');
const path = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => `/global/${keys.join('/')}`);
const value = fc.oneof(fc.nat({ max: 3 }), fc.dictionary(key, fc.nat({ max: 3 }), { maxKeys: 2 }));
const operation = fc.oneof(
  fc.record({ op: fc.constant('add' as const), path, value }),
  fc.record({ op: fc.constant('remove' as const), path }),
);

/** As the daemon does it: what does not apply fails the hook, and changes nothing. */
function applyIfValid(values: ValuesStore, operations: readonly ValuesOperation[]): void {
  try {
    values.applyPatch(GLOBAL_SECTION, operations, 'h.sh');
  } catch {
    // The hook failed.
  }
}

test('the values after another start are those before it, with any patches of hooks', () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, value, { maxKeys: 3 }),
      fc.array(operation, { maxLength: 6 }),
      (global, operations) => {
        const before = storeWith(global);
        for (const one of operations) applyIfValid(before, [one]);
        const note = formatSetByHooks(setByHooks({ values: before, dynamicFlags: FLAGS }, WEB));
        const deployed = { global: before.globalValues() };
        const after = storeWith(global);
        after.setPatches(
          GLOBAL_SECTION,
          patchesAgain(parseSetByHooks(note).global, deployed, () => true),
        );
        expect(after.globalValues()).toEqual(before.globalValues());
      },
    ),
  );
});
