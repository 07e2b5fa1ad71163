import { type Json, parseJson } from '@addon-operator/json';
import { beforeEach, expect, test } from 'vitest';
import { ConfigMapLab, until } from '../../test/support/config-map-lab.ts';
import type { ModuleName } from './module-key.ts';
import type { ValuesOperation } from './values-patch.ts';

const web = 'web' as ModuleName;
const NEVER = new AbortController().signal;

let lab: ConfigMapLab;

beforeEach(async () => {
  lab = await ConfigMapLab.start();
});

const add = (path: string, value: Json): ValuesOperation => ({ op: 'add', path, value });

const accept = (): void => undefined;

test('save() creates an absent ConfigMap with that key only', async () => {
  const { store, changes } = await lab.watched();
  expect(await store.save(web, [add('/web/b', [1]), add('/web/a', 'yes')], accept, NEVER)).toStrictEqual({
    a: 'yes',
    b: [1],
  });
  expect(lab.server.object?.data).toStrictEqual({ web: "a: 'yes'\nb:\n    - 1\n" });
  expect(await lab.fence(changes)).toStrictEqual(['fenceEnabled']);
});

test('save() adds the section of a module that is called as what every object inherits', async () => {
  lab.server.edit({ web: 'a: 1' });
  const store = lab.newStore();
  const patch = [add('/constructor/a', 1)];
  expect(await store.save('constructor' as ModuleName, patch, accept, NEVER)).toStrictEqual({ a: 1 });
  expect(lab.server.object?.data).toStrictEqual({ web: 'a: 1', constructor: 'a: 1\n' });
});

test('save() leaves everything else in the ConfigMap as it is', async () => {
  lab.server.edit(
    { global: 'a: 1 # mine', db: 'x: [', web: 'a: 1' },
    { binaryData: { b: 'aGk=' }, immutable: false },
  );
  const store = lab.newStore();
  expect(await store.save('global', [add('/global/b', 2)], accept, NEVER)).toStrictEqual({ a: 1, b: 2 });
  expect(lab.server.object).toMatchObject({
    data: { global: 'a: 1\nb: 2\n', db: 'x: [', web: 'a: 1' },
    binaryData: { b: 'aGk=' },
    immutable: false,
  });
});

test('save() is no change, but what a person does afterwards is', async () => {
  lab.server.edit({ global: 'a: 1', web: 'a: 1' });
  const { store, changes } = await lab.watched();
  await store.save(web, [add('/web/a', 2)], accept, NEVER);
  await store.save('global', [add('/global/b', 2)], accept, NEVER);
  expect(store.content.global).toStrictEqual({ a: 1, b: 2 });
  lab.server.edit({ ...lab.server.object?.data, web: 'a: 1' });
  expect(await lab.fence(changes)).toStrictEqual(['web', 'fenceEnabled']);
});

test('save() writes nothing when the patch changes nothing', async () => {
  lab.server.edit({ web: 'a: 1' });
  expect(await lab.newStore().save(web, [add('/web/a', 1)], accept, NEVER)).toStrictEqual({ a: 1 });
  expect(lab.server.count('PUT')).toBe(0);
});

test('save() puts its patch on top of what a person wrote at the same moment, and that is noticed', async () => {
  lab.server.edit({ web: 'a: 1', db: 'a: 1' });
  const { store, changes } = await lab.watched();
  lab.server.intercept('PUT', () => {
    lab.server.edit({ web: 'a: 1\nperson: 1', db: 'a: 2' });
    return undefined;
  });
  const saved = await store.save(web, [add('/web/hook', 1)], accept, NEVER);
  expect(saved).toStrictEqual({ a: 1, hook: 1, person: 1 });
  expect(lab.server.object?.data).toStrictEqual({ web: 'a: 1\nhook: 1\nperson: 1\n', db: 'a: 2' });
  await until(() => changes.length === 1);
  expect(await lab.fence(changes)).toStrictEqual(['db web', 'fenceEnabled']);
});

test('save() is not undone by older news that the watch brings later', async () => {
  lab.server.edit({ web: 'a: 1', db: 'a: 1' });
  const { store, changes } = await lab.watched();
  const seen = lab.server.version;
  lab.server.holdWatches();
  lab.server.edit({ web: 'a: 1', db: 'a: 2' });
  await store.save(web, [add('/web/a', 2)], accept, NEVER);
  await store.save(web, [add('/web/a', 3)], accept, NEVER);
  lab.server.releaseWatches(seen);
  await until(() => changes.length === 1);
  expect(await lab.fence(changes)).toStrictEqual(['db', 'fenceEnabled']);
  expect([...store.content.sections.values()]).toStrictEqual([{ a: 3 }, { a: 2 }]);
});

test('save() loses none of a hundred patches made at once', async () => {
  const { store, changes } = await lab.watched();
  const saves = Array.from({ length: 100 }, (_, index) =>
    store.save(web, [add(`/web/k${index}`, index)], accept, NEVER),
  );
  await Promise.all(saves);
  expect(Object.keys(store.content.sections.values().next().value ?? {})).toHaveLength(100);
  expect(await lab.fence(changes)).toStrictEqual(['fenceEnabled']);
});

test('save() makes a new ConfigMap when the one it read is deleted before it writes', async () => {
  lab.server.edit({ web: 'a: 1', db: 'a: 1' });
  lab.server.intercept('PUT', () => {
    lab.server.delete();
    return undefined;
  });
  const saved = await lab.newStore().save(web, [add('/web/hook', 1)], accept, NEVER);
  expect(saved).toStrictEqual({ hook: 1 });
  expect(lab.server.object?.data).toStrictEqual({ web: 'hook: 1\n' });
});

test('save() fails when other writers are faster six times in a row', async () => {
  lab.server.edit({ web: 'a: 1' });
  for (let round = 0; round < 6; round += 1) {
    lab.server.intercept('PUT', () => {
      lab.server.edit({ web: `a: ${round}` });
      return undefined;
    });
  }
  await expect(lab.newStore().save(web, [add('/web/b', 1)], accept, NEVER)).rejects.toMatchObject({
    code: 'CONFIG_MAP_CONFLICT',
    message: expect.stringContaining('--show-managed-fields'),
  });
  expect(lab.server.count('PUT')).toBe(6);
});

test('save() reads again when it is unknown whether the write arrived, and does not repeat one that did', async () => {
  lab.server.edit({ web: 'l: [1]' });
  const { store, changes } = await lab.watched();
  lab.server.intercept('PUT', () => ({ type: 'carry-out-and-cut' }));
  expect(await store.save(web, [add('/web/l/-', 2)], accept, NEVER)).toStrictEqual({ l: [1, 2] });
  expect(lab.server.count('PUT')).toBe(1);
  expect(await lab.fence(changes)).toStrictEqual(['fenceEnabled']);
});

test.each([{ type: 'cut' } as const, { type: 'refuse', status: 504, reason: 'Timeout' } as const])(
  'save() repeats a write that did not arrive: %j',
  async (trouble) => {
    lab.server.edit({ web: 'l: [1]' });
    lab.server.intercept('PUT', () => trouble);
    expect(await lab.newStore().save(web, [add('/web/l/-', 2)], accept, NEVER)).toStrictEqual({ l: [1, 2] });
    expect(lab.server.object?.data).toStrictEqual({ web: 'l:\n    - 1\n    - 2\n' });
  },
);

test.each<{
  name: string;
  data: Record<string, string>;
  operation: ValuesOperation;
  code: string;
  message: string;
}>([
  {
    name: 'a patch that does not fit',
    data: { web: 'a: 1' },
    operation: { op: 'remove', path: '/web/b' },
    code: 'VALUES_PATCH_INVALID',
    message: 'cannot apply config values patch for module values: ',
  },
  {
    name: 'a section that cannot be understood',
    data: { web: 'a: [' },
    operation: add('/web/b', 1),
    code: 'CONFIG_MAP_INVALID',
    message: "bad yaml at key 'web'",
  },
  {
    name: 'more levels than can be read again',
    data: { web: 'a: 1' },
    operation: add('/web/b', parseJson(`${'['.repeat(100)}${']'.repeat(100)}`) as Json),
    code: 'CONFIG_MAP_INVALID',
    message:
      "cannot save 'web' into ConfigMap 'addon-operator': values are nested deeper than the 100 levels that can be read again, below b.0.0.0.0",
  },
  {
    name: 'more than a ConfigMap can hold',
    data: { db: 'x'.repeat(600_000) },
    operation: add('/web/b', 'x'.repeat(500_000)),
    code: 'CONFIG_MAP_INVALID',
    message: 'it would hold 1100004 bytes, more than the 1048576 a ConfigMap can hold. Remove unused keys',
  },
])('save() refuses $name before it writes', async ({ data, operation, code, message }) => {
  lab.server.edit(data);
  const failure: unknown = await lab
    .newStore()
    .save(web, [operation], accept, NEVER)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code });
  expect(String(failure)).toContain(message);
  expect(lab.server.count('PUT')).toBe(0);
});

test('save() fails when the API server refuses, and the content stays as it was', async () => {
  lab.server.edit({ web: 'a: 1' });
  const { store } = await lab.watched();
  lab.server.intercept('PUT', () => ({ type: 'refuse', status: 422, reason: 'Invalid' }));
  await expect(store.save(web, [add('/web/a', 2)], accept, NEVER)).rejects.toMatchObject({
    code: 'KUBE_API',
    status: 422,
  });
  expect([...store.content.sections.values()]).toStrictEqual([{ a: 1 }]);
});
