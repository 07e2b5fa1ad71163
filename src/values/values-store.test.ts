import type { Json } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { parseConfigMapData } from './config-map-content.ts';
import type { ModuleName } from './module-key.ts';
import type { ValuesOperation } from './values-patch.ts';
import { ValuesStore } from './values-store.ts';

const web = 'web' as ModuleName;
const db = 'db' as ModuleName;

const add = (path: string, value: Json): ValuesOperation => ({ op: 'add', path, value });
const remove = (path: string): ValuesOperation => ({ op: 'remove', path });

function storeWith(data: Readonly<Record<string, string>> = {}): ValuesStore {
  const store = new ValuesStore({
    global: { a: 1 },
    modules: new Map([
      [web, { size: 's', ports: [80, 443] }],
      [db, {}],
    ]),
  });
  store.setConfig(parseConfigMapData(data));
  return store;
}

test('ValuesStore merges files, ConfigMap and patches, in this order', () => {
  const store = storeWith({ global: 'a: 2', web: 'ports: [8080]' });
  expect(store.applyPatch(web, [add('/web/token', 'x')])).toBe(true);
  expect(store.globalValues()).toStrictEqual({ a: 2 });
  expect(store.moduleValues(web)).toStrictEqual({ size: 's', ports: [8080], token: 'x' });
  expect(store.globalConfigValues()).toStrictEqual({ a: 2 });
  expect(store.moduleConfigValues(web)).toStrictEqual({ ports: [8080] });
  expect(store.moduleValues(db)).toStrictEqual({});
  expect(store.moduleConfigValues(db)).toBeUndefined();
});

test('a patch wins over what the ConfigMap says later', () => {
  const store = storeWith();
  store.applyPatch(web, [add('/web/size', 'patched')]);
  store.setConfig(parseConfigMapData({ web: 'size: l' }));
  expect(store.moduleValues(web)).toMatchObject({ size: 'patched' });
});

test('a section that leaves the ConfigMap leaves the values', () => {
  const store = storeWith({ global: 'a: 2', web: 'size: l' });
  store.setConfig(parseConfigMapData({}));
  expect(store.globalValues()).toStrictEqual({ a: 1 });
  expect(store.moduleValues(web)).toMatchObject({ size: 's' });
});

test('applyPatch() says false and keeps nothing when the values stay the same', () => {
  const store = storeWith();
  const before = store.checksum(web);
  expect(store.applyPatch(web, [add('/web/size', 's')])).toBe(false);
  expect(store.applyPatch(web, [add('/web/x', 1), remove('/web/x')])).toBe(false);
  expect(store.applyPatch(web, [{ op: 'test', path: '/web/size', value: 's' }])).toBe(false);
  expect(store.checksum(web)).toBe(before);
  expect(store.patchesDump(web)).toBeNull();
});

test('applyPatch() keeps nothing of a patch whose second operation fails', () => {
  const store = storeWith();
  expect(() => store.applyPatch(web, [add('/web/x', 1), remove('/web/missing')])).toThrow(
    'cannot apply values patch for module values: remove operation does not apply: doc is missing path: "/web/missing"',
  );
  expect(() => store.applyPatch('global', [remove('/global/missing')])).toThrow(
    'cannot apply values patch for global values: ',
  );
  expect(store.moduleValues(web)).toStrictEqual({ size: 's', ports: [80, 443] });
  expect(store.patchesDump(web)).toBeNull();
});

test.each([[remove('/web')], [add('/web', 'text')], [add('/web', [])]])(
  'applyPatch() refuses to leave a module without its map: %j',
  (operation) => {
    expect(() => storeWith().applyPatch(web, [operation])).toThrow('/web must stay a map');
  },
);

test('a stored removal is passed over when there is nothing to remove any more', () => {
  const store = storeWith({ web: 'extra: 1' });
  store.applyPatch(web, [remove('/web/extra')]);
  store.setConfig(parseConfigMapData({}));
  expect(store.moduleValues(web)).toStrictEqual({ size: 's', ports: [80, 443] });
});

test('setConfig() takes over nothing when a stored patch does not fit any more', () => {
  const store = storeWith({ global: 'a: 2', web: 'db: {}' });
  store.applyPatch(web, [add('/web/db/host', 'h')]);
  expect(() => store.setConfig(parseConfigMapData({ global: 'a: 3' }))).toThrow(
    /cannot apply the stored patches of hooks to the values of 'web': .*"\/web\/db\/host": missing value\. Restore what they need/,
  );
  expect(store.globalValues()).toStrictEqual({ a: 2 });
  expect(store.moduleValues(web)).toMatchObject({ db: { host: 'h' } });
});

test('setConfigSection() and setPatches() take over nothing when patches do not fit', () => {
  const store = storeWith({ web: 'db: {}' });
  store.applyPatch(web, [add('/web/db/host', 'h')]);
  expect(() => store.setConfigSection(web, {})).toThrow('cannot apply the stored patches');
  expect(store.moduleConfigValues(web)).toStrictEqual({ db: {} });
  const patches = store.patches(web);
  expect(() => store.setPatches(web, [{ op: 'add', path: '/web/none/host', value: 'h' }])).toThrow(
    'cannot apply the stored patches',
  );
  expect(store.patches(web)).toBe(patches);
});

test('checkPatches() tries both patches on top of each other and changes nothing', () => {
  const store = storeWith();
  const patches = { config: [add('/web/db', {})], values: [add('/web/db/host', 'h')] };
  store.checkPatches(web, patches);
  expect(() => store.checkPatches(web, { config: [], values: patches.values })).toThrow('missing path');
  expect(() => store.checkPatches(web, { config: [remove('/web/x')], values: [] })).toThrow(
    'cannot apply config values patch for module values: ',
  );
  expect(store.moduleValues(web)).toStrictEqual({ size: 's', ports: [80, 443] });
});

test('patchedConfig() works on the section of the ConfigMap alone', () => {
  const store = storeWith({ web: 'size: l' });
  expect(store.patchedConfig(web, [add('/web/x', 1)])).toStrictEqual({ size: 'l', x: 1 });
  expect(store.patchedConfig('global', [add('/global/x', 1)])).toStrictEqual({ x: 1 });
});

test('setConfigSection() takes over one section and no other', () => {
  const store = storeWith({ global: 'a: 2', web: 'size: l' });
  store.setConfigSection(web, { size: 'xl' });
  store.setConfigSection('global', {});
  expect(store.moduleConfigValues(web)).toStrictEqual({ size: 'xl' });
  expect(store.globalConfigValues()).toStrictEqual({});
});

test('forgetPatches() brings back the values without patches', () => {
  const store = storeWith({ web: 'size: l' });
  store.applyPatch(web, [add('/web/size', 'patched')]);
  store.forgetPatches(web);
  expect(store.moduleValues(web)).toMatchObject({ size: 'l' });
  expect(store.patchesDump(web)).toStrictEqual([]);
});

test('patchesDump() shows compacted patches in the order of their paths', () => {
  const store = storeWith();
  store.applyPatch(web, [add('/web/o', {}), add('/web/o/k', 1)]);
  store.applyPatch(web, [add('/web/o', { new: 1 }), add('/web/a', 1)]);
  expect(store.patchesDump(web)).toStrictEqual([
    { Operations: [{ op: 'add', path: '/web/a', value: 1 }] },
    { Operations: [{ op: 'add', path: '/web/o', value: { new: 1 } }] },
  ]);
});

test('values that were handed out never change', () => {
  const store = storeWith();
  const before = store.moduleValues(web);
  store.applyPatch(web, [add('/web/ports/-', 8443)]);
  expect(before).toStrictEqual({ size: 's', ports: [80, 443] });
});

test('an unknown module has no values', () => {
  expect(() => storeWith().moduleValues('ghost' as ModuleName)).toThrow("no module 'ghost'");
});

test('values that nothing has changed are the same object again', () => {
  const store = storeWith({ web: 'size: l' });
  const changes: (() => unknown)[] = [
    () => store.applyPatch(web, [add('/web/token', 'x')]),
    () => store.setConfigSection(web, { size: 'm' }),
    () => store.setConfig(parseConfigMapData({ web: 'size: xl' })),
    () => store.forgetPatches(web),
    () => store.setStatic({ global: {}, modules: new Map([[web, { size: 's', isNew: true }]]) }),
  ];
  const seen = [store.moduleValues(web)];
  for (const change of changes) {
    change();
    seen.push(store.moduleValues(web));
    expect(store.moduleValues(web)).toBe(seen.at(-1));
  }
  expect(seen).toStrictEqual([
    { size: 'l', ports: [80, 443] },
    { size: 'l', ports: [80, 443], token: 'x' },
    { size: 'm', ports: [80, 443], token: 'x' },
    { size: 'xl', ports: [80, 443], token: 'x' },
    { size: 'xl', ports: [80, 443] },
    { size: 'xl', isNew: true },
  ]);
});

test('values with texts of Secrets follow those', () => {
  let text = 'old';
  const secrets = {
    namespace: 'ours',
    lookup: () => ({ type: 'known', text }) as const,
    isResolvedFor: () => true,
  };
  const password = { valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } };
  const store = new ValuesStore({ global: {}, modules: new Map([[db, { password }]]) }, secrets);
  expect(store.moduleValues(db)).toStrictEqual({ password: 'old' });
  text = 'new';
  expect(store.moduleValues(db)).toStrictEqual({ password: 'new' });
});
