import { expect, test } from 'vitest';
import { settle } from '../../test/support/fake-clock.ts';
import type { Hook } from '../hooks/hook.ts';
import { PreloadedHooks } from './module-hooks.ts';

const hooks: readonly Hook[] = [];

test('what was loaded ahead is handed out once', async () => {
  const ahead = new PreloadedHooks();
  let loads = 0;
  const load = async (): Promise<readonly Hook[]> => {
    loads += 1;
    return hooks;
  };
  ahead.start('web', load);
  ahead.start('web', load);
  expect(await ahead.take('web')).toBe(hooks);
  expect(await ahead.take('web')).toBeUndefined();
  expect(await ahead.take('other')).toBeUndefined();
  expect(loads).toBe(1);
});

test('take() waits for a load under way', async () => {
  const ahead = new PreloadedHooks();
  const gate = Promise.withResolvers<readonly Hook[]>();
  ahead.start('web', () => gate.promise);
  const taken = ahead.take('web');
  gate.resolve(hooks);
  expect(await taken).toBe(hooks);
});

test('take() hands out nothing that was forgotten while it waited, and leaves the next load alone', async () => {
  const ahead = new PreloadedHooks();
  const old = Promise.withResolvers<readonly Hook[]>();
  ahead.start('web', () => old.promise);
  const taken = ahead.take('web');
  ahead.retain(new Set());
  ahead.start('web', async () => hooks);
  old.resolve([]);
  expect(await taken).toBeUndefined();
  expect(await ahead.take('web')).toBe(hooks);
});

test('a failed load is as none, so that who needs the hooks finds out why', async () => {
  const ahead = new PreloadedHooks();
  ahead.start('web', () => Promise.reject(new Error('broken')));
  await settle();
  expect(await ahead.take('web')).toBeUndefined();
});

test('few loads are in progress at once, and those no longer wanted are never started', async () => {
  const ahead = new PreloadedHooks();
  const begun: string[] = [];
  const gate = Promise.withResolvers<readonly Hook[]>();
  const names = Array.from({ length: 8 }, (_, index) => `mod${index}`);
  for (const name of names)
    ahead.start(name, () => {
      begun.push(name);
      return gate.promise;
    });
  await settle();
  expect(begun).toEqual(['mod0', 'mod1', 'mod2', 'mod3']);
  ahead.retain(new Set(['mod0', 'mod6']));
  gate.resolve(hooks);
  await settle();
  expect(begun).toEqual(['mod0', 'mod1', 'mod2', 'mod3', 'mod6']);
  expect(await ahead.take('mod6')).toBe(hooks);
  expect(await ahead.take('mod1')).toBeUndefined();
});
