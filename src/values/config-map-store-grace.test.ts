import { array, assert, asyncProperty, constant, constantFrom, oneof, record } from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { ConfigMapLab, summary, until } from '../../test/support/config-map-lab.ts';
import type { ModuleName } from './module-key.ts';
import type { ValuesOperation } from './values-patch.ts';

const NEVER = new AbortController().signal;
const GRACE_MS = 10_000;
const WEB = 'web' as ModuleName;
const SETTINGS = { global: 'a: 1', web: 'b: 1', webEnabled: 'true' };
const add = (path: string, value: number): ValuesOperation => ({ op: 'add', path, value });
const accept = (): void => undefined;

let lab: ConfigMapLab;

beforeEach(async () => {
  lab = await ConfigMapLab.start();
});

test('watch() keeps the last content of a ConfigMap that is gone, until the grace is over', async () => {
  lab.server.edit(SETTINGS);
  const { store, changes } = await lab.watched(GRACE_MS);
  lab.server.delete();
  await until(() => changes.length === 1);
  expect(changes).toEqual([{ type: 'missing', graceMs: GRACE_MS }]);
  expect(store.state).toEqual({ type: 'missing' });
  await lab.clock.advance(GRACE_MS - 1);
  expect(store.content.flags.size).toBe(1);
  await lab.clock.advance(1);
  await until(() => changes.length === 3);
  expect(summary(changes)).toEqual(['missing', 'valid', 'global web webEnabled']);
  expect(store.content.flags.size + store.content.sections.size).toBe(0);
});

test('watch() reports no change when the ConfigMap is replaced by deleting and creating it', async () => {
  lab.server.edit(SETTINGS);
  const { store, changes } = await lab.watched(GRACE_MS);
  lab.server.delete();
  await until(() => changes.length === 1);
  lab.server.edit(SETTINGS);
  await until(() => store.state.type === 'valid');
  await lab.clock.advance(2 * GRACE_MS);
  expect(await lab.fence(changes)).toEqual(['missing', 'valid', 'fenceEnabled']);
});

test('watch() reports what differs in the ConfigMap that came back', async () => {
  lab.server.edit(SETTINGS);
  const { changes } = await lab.watched(GRACE_MS);
  lab.server.delete();
  await until(() => changes.length === 1);
  lab.server.edit({ ...SETTINGS, web: 'b: 2' });
  await until(() => changes.length === 3);
  expect(summary(changes)).toEqual(['missing', 'valid', 'web']);
});

test('watch() reads the ConfigMap by name before it takes it for deleted, however long that fails', async () => {
  lab.server.edit(SETTINGS);
  const { store, changes } = await lab.watched(GRACE_MS);
  lab.server.delete();
  await until(() => changes.length === 1);
  lab.server.intercept('GET', () => ({ type: 'refuse', status: 500, reason: 'InternalError' }));
  await lab.clock.advance(GRACE_MS);
  await until(() => lab.warnings.length === 1);
  expect(store.content.flags.size).toBe(1);
  await lab.clock.advance(1_000);
  await until(() => store.content.flags.size === 0);
});

test('save() waits while the ConfigMap may come back, and leaves what comes back whole', async () => {
  lab.server.edit(SETTINGS);
  const { store, changes } = await lab.watched(GRACE_MS);
  lab.server.delete();
  await until(() => changes.length === 1);
  const saving = store.save(WEB, [add('/web/hook', 1)], accept, NEVER);
  await lab.clock.advance(GRACE_MS - 1);
  expect(lab.server.object).toBeUndefined();
  lab.server.edit(SETTINGS);
  expect(await saving).toEqual({ b: 1, hook: 1 });
  expect(lab.server.object?.data).toEqual({ ...SETTINGS, web: 'b: 1\nhook: 1\n' });
});

test('save() makes no ConfigMap in the place of one whose deletion the watch has yet to report', async () => {
  lab.server.edit(SETTINGS);
  const { store, changes } = await lab.watched(GRACE_MS);
  lab.server.holdWatches();
  lab.server.delete();
  const saving = store.save(WEB, [add('/web/hook', 1)], accept, NEVER);
  await until(() => store.state.type === 'missing');
  const reads = lab.server.count('GET');
  lab.server.releaseWatches(0);
  await until(() => lab.server.count('GET') > reads);
  expect([lab.server.object, summary(changes)]).toEqual([undefined, ['missing']]);
  await lab.clock.advance(GRACE_MS);
  expect(await saving).toEqual({ hook: 1 });
  expect(lab.server.object?.data).toEqual({ web: 'hook: 1\n' });
  expect(summary(changes).slice(0, 2)).toEqual(['missing', 'valid']);
});

test('watch() never takes a ConfigMap for deleted that was gone for less than the grace, in any history', async () => {
  const step = oneof(
    record({ type: constant('gone' as const), ms: constantFrom(0, 1, 5_000, GRACE_MS - 1) }),
    record({ type: constant('pass' as const), ms: constantFrom(1, GRACE_MS, 3 * GRACE_MS) }),
  );
  await assert(
    asyncProperty(array(step, { maxLength: 6 }), async (steps) => {
      const own = await ConfigMapLab.start();
      own.server.edit(SETTINGS);
      const { store, changes } = await own.watched(GRACE_MS);
      for (const { type, ms } of steps) {
        if (type === 'gone') {
          own.server.delete();
          await until(() => store.state.type === 'missing');
        }
        await own.clock.advance(ms);
        expect(store.content.flags.size).toBe(1);
        if (type === 'gone') own.server.edit(SETTINGS);
        await until(() => store.state.type === 'valid');
      }
      expect(summary(changes).filter((word) => word !== 'missing' && word !== 'valid')).toEqual([]);
    }),
    { numRuns: 15 },
  );
});
