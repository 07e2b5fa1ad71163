import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { FileSet } from '../modules/file-set.ts';
import { type FileSetStore, ModuleMemory } from './module-memory.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'module-memory-'));
  await writeFile(join(root, 'values.yaml'), 'a: 1');
});

afterEach(() => rm(root, { recursive: true }));

/** A store whose writes can fail. */
class Store implements FileSetStore {
  kept: ReadonlyMap<string, FileSet> = new Map();
  writes = 0;
  failures = 0;
  async read(): Promise<ReadonlyMap<string, FileSet>> {
    return this.kept;
  }
  async write(files: ReadonlyMap<string, FileSet>): Promise<void> {
    this.writes += 1;
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('no answer');
    }
    this.kept = new Map(files);
  }
}

const load = (store: Store): Promise<ModuleMemory> =>
  ModuleMemory.load({ store, log: silentLogger, stop: new AbortController().signal });
const module = (name: string) => moduleFor(name, 1, { path: root, entries: ['values.yaml'] });

/** Files are read before they are kept. */
async function settled(memory: ModuleMemory, isDone: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(isDone()).toBe(true), { timeout: 30_000 });
  await memory.idle();
}

test('what a module had in its last successful run is known after a restart, and written once', async () => {
  const store = new Store();
  const memory = await load(store);
  const web = module('web');
  memory.remember(web);
  await settled(memory, () => store.kept.has('web'));
  memory.remember(web);
  memory.remember(module('web'));
  memory.remember(module('db'));
  await settled(memory, () => store.kept.has('db'));
  expect(store.writes).toBe(2);
  const next = await load(store);
  expect(next.names).toEqual(['web', 'db']);
  expect(next.filesOf('web')).toMatchObject({ entries: ['values.yaml'], digests: [expect.any(String)] });
  next.forget('web');
  await settled(next, () => !store.kept.has('web'));
  expect((await load(store)).names).toEqual(['db']);
});

test('a write that fails is made up for by the next one', async () => {
  const store = new Store();
  store.failures = 1;
  const memory = await load(store);
  memory.remember(module('web'));
  await settled(memory, () => store.writes === 1);
  expect(store.kept.size).toBe(0);
  memory.remember(module('db'));
  await settled(memory, () => store.kept.has('db'));
  expect([...store.kept.keys()]).toEqual(['web', 'db']);
});
