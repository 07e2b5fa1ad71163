import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { PendingUpdates } from '../model/pending-updates.ts';
import type { Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import { ModuleRescan, RETRY_MS } from './module-rescan.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'module-rescan-'));
  await mkdir(join(root, 'modules'));
});

afterEach(() => rm(root, { recursive: true }));

async function version(path: string): Promise<string> {
  await mkdir(join(root, path), { recursive: true });
  await writeFile(join(root, path, 'Chart.yaml'), path);
  return join(root, path);
}

async function linkTo(target: string): Promise<string> {
  const link = join(root, 'modules/010-web');
  await symlink(target, `${link}.draft`);
  await rename(`${link}.draft`, link);
  return link;
}

function lab(...known: readonly Module[]) {
  const modules = [...known];
  const queued: string[][] = [];
  const clock = new FakeClock();
  const updates = new PendingUpdates();
  const config = { web: {} };
  const removed = new Set<string>();
  const main = {
    prepend: (task: Task) => void queued.push(task.type === 'ReloadFiles' ? [...(task.modules ?? [])] : []),
    cutDelay: () => undefined,
  };
  const rescan = new ModuleRescan({
    registry: { modules, find: (name) => modules.find((module) => module.name === name) },
    router: { main },
    sources: { modulesDirectories: () => [{ path: join(root, 'modules'), modules: [] }] },
    updates,
    values: { configValues: () => config.web },
    delivered: undefined,
    store: {
      currentDir: join(root, 'modules'),
      contains: (path) => path.startsWith(join(root, 'content')),
      removedModules: async () => removed,
    },
    clock,
  });
  const look = async (): Promise<readonly string[][]> => {
    await rescan.rescan();
    return queued.splice(0);
  };
  return { clock, config, look, modules, removed, updates };
}

test('a link with another target is found at once, and once', async () => {
  const [one, two] = [await version('one'), await version('two')];
  const link = await linkTo(one);
  const { look } = lab(moduleFor('web', 10, { path: one, link }));
  expect(await look()).toEqual([]);
  await linkTo(two);
  expect(await look()).toEqual([['web']]);
  expect(await look()).toEqual([]);
});

test('files that are edited in place are not looked at', async () => {
  const path = await version('modules/010-web');
  const { look } = lab(moduleFor('web', 10, { path }));
  expect(await look()).toEqual([]);
  await writeFile(join(path, 'values.yaml'), 'web: {}');
  expect([await look(), await look()]).toEqual([[], []]);
});

test('a new directory is found when it does not change any more, new content of the store at once', async () => {
  const { look } = lab();
  expect(await look()).toEqual([]);
  const path = await version('modules/020-db');
  expect(await look()).toEqual([]);
  await writeFile(join(path, 'values.yaml'), '');
  expect(await look()).toEqual([]);
  expect(await look()).toEqual([['db']]);
  await linkTo(await version('content/one'));
  expect(await look()).toEqual([['web']]);
});

test('a refused update is tried again when the settings change, after a minute, and not when it is taken back', async () => {
  const [one, two] = [await version('one'), await version('two')];
  const link = await linkTo(one);
  const { clock, config, look, updates } = lab(moduleFor('web', 10, { path: one, link }));
  await linkTo(two);
  expect(await look()).toEqual([['web']]);
  updates.set('web', { reason: 'SettingsInvalid', message: 'size', sinceMs: 0 });
  expect(await look()).toEqual([]);
  config.web = { size: 1 };
  expect(await look()).toEqual([['web']]);
  await clock.advance(RETRY_MS - 1);
  expect(await look()).toEqual([]);
  await clock.advance(1);
  expect(await look()).toEqual([['web']]);
  expect(updates.all.size).toBe(1);
  await linkTo(one);
  expect(await look()).toEqual([]);
  expect(updates.all.size).toBe(0);
});

test('a module that was removed from the store is found, one whose link is lost is not', async () => {
  const one = await version('content/one');
  const link = await linkTo(one);
  const { look, removed } = lab(moduleFor('web', 10, { path: one, link }));
  await rm(link);
  expect(await look()).toEqual([]);
  removed.add('web');
  expect(await look()).toEqual([['web']]);
});
