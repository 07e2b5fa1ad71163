import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { FileRecord } from '../modules/file-set.ts';
import { type FileSetStore, LAST_WRITE_MS, ModuleMemory } from './module-memory.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'module-memory-'));
  await writeFile(join(root, 'values.yaml'), 'a: 1');
});

afterEach(() => rm(root, { recursive: true }));

/** A store whose writes can fail, or take long. */
class Store implements FileSetStore {
  kept: ReadonlyMap<string, FileRecord> = new Map();
  writes = 0;
  readonly failures: Error[] = [];
  /** While it is set, writes wait for it. */
  answer: Promise<void> | undefined;
  async read(): Promise<ReadonlyMap<string, FileRecord>> {
    return this.kept;
  }
  async write(files: ReadonlyMap<string, FileRecord>, signal: AbortSignal): Promise<void> {
    this.writes += 1;
    const written = new Map(files);
    if (this.answer !== undefined) await resultOrAbort(this.answer, signal);
    signal.throwIfAborted();
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.kept = written;
  }
}

const WAIT = { timeout: 60_000 };
const NEVER = new AbortController().signal;
const clock = new FakeClock();
const load = (store: Store, log = silentLogger): Promise<ModuleMemory> =>
  ModuleMemory.load({ store, clock, log, stop: NEVER });
const module = (name: string) => moduleFor(name, 1, { path: root, entries: ['values.yaml'] });

test('what a module had when it was run is known after a restart, and written once', async () => {
  const store = new Store();
  const memory = await load(store);
  const web = module('web');
  await memory.remember(web, NEVER);
  expect([...store.kept.keys()]).toEqual(['web']);
  await memory.remember(web, NEVER);
  await memory.remember(module('web'), NEVER);
  await memory.remember(module('db'), NEVER);
  expect(store.writes).toBe(2);
  const next = await load(store);
  expect(next.names).toEqual(['web', 'db']);
  expect(next.filesOf('web')).toMatchObject({ entries: ['values.yaml'], digests: [expect.any(String)] });
  next.forget('web');
  await next.close();
  expect((await load(store)).names).toEqual(['db']);
});

test('the entry of a module in the module store is known after a restart', async () => {
  const store = new Store();
  const memory = await load(store);
  const link = '/store/current/050-web';
  await memory.remember({ ...module('web'), isStored: true, link }, NEVER);
  expect((await load(store)).filesOf('web')).toMatchObject({ stored: '050-web' });
  await memory.remember(module('web'), NEVER);
  expect((await load(store)).filesOf('web')).not.toHaveProperty('stored');
});

test('files that cannot be kept end the run of the module before it begins, and the next attempt keeps them', async () => {
  const store = new Store();
  store.failures.push(new OperatorError('KUBE_UNREACHABLE', 'no answer'));
  const memory = await load(store);
  const web = module('web');
  const refused = memory.remember(web, NEVER);
  await expect(refused).rejects.toThrow(
    'the files of module web cannot be remembered, which comes before its run: no answer',
  );
  await expect(refused).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' });
  await memory.remember(web, NEVER);
  expect([...store.kept.keys()]).toEqual(['web']);
  await rm(root, { recursive: true });
  await expect(memory.remember(module('db'), NEVER)).rejects.toMatchObject({ code: 'MODULE_INVALID' });
  await mkdir(root);
});

test('a run that is aborted while its files are written is not taken for one whose files are kept', async () => {
  const store = new Store();
  const answer = Promise.withResolvers<void>();
  store.answer = answer.promise;
  const memory = await load(store);
  const [web, abort] = [module('web'), new AbortController()];
  const first = memory.remember(web, abort.signal);
  await vi.waitFor(() => expect(store.writes).toBe(1), WAIT);
  abort.abort(new Error('aborted'));
  await expect(first).rejects.toThrow('aborted');
  let isKept = false;
  const second = memory.remember(web, NEVER).then(() => {
    isKept = store.kept.has('web');
  });
  answer.resolve();
  await second;
  expect(isKept).toBe(true);
});

test('modules that run at the same time are written together', async () => {
  const store = new Store();
  const answer = Promise.withResolvers<void>();
  store.answer = answer.promise;
  const memory = await load(store);
  const names = ['a', 'b', 'c', 'd'];
  const all = names.map((name) => memory.remember(module(name), NEVER));
  await vi.waitFor(() => expect(memory.names).toHaveLength(names.length), WAIT);
  answer.resolve();
  await Promise.all(all);
  expect([...store.kept.keys()].toSorted()).toEqual(names);
  expect(store.writes).toBeLessThanOrEqual(2);
});

test.each([413, 422])('files that are too many for the API server (%i) hold up no module', async (status) => {
  const store = new Store();
  const captured = new CapturedLog(clock);
  store.failures.push(new KubeApiError('must have at most 1048576 bytes', { status, reason: 'Invalid' }));
  const memory = await load(store, captured.logger);
  await memory.remember(module('web'), NEVER);
  expect(captured.records).toMatchObject([{ level: 'warn', msg: expect.stringContaining('too many') }]);
});

describe('close()', () => {
  test('writes what could not be written before', async () => {
    const store = new Store();
    const memory = await load(store);
    await memory.remember(module('web'), NEVER);
    store.failures.push(new Error('no answer'));
    memory.forget('web');
    await memory.close();
    await memory.close();
    expect([...store.kept.keys()]).toEqual([]);
  });

  test('waits for an API server that does not answer no longer than a few seconds', async () => {
    const store = new Store();
    const memory = await load(store);
    await memory.remember(module('web'), NEVER);
    store.answer = Promise.withResolvers<void>().promise;
    memory.forget('web');
    const closed = memory.close();
    await clock.advance(LAST_WRITE_MS);
    await closed;
    expect(store.writes).toBe(2);
    expect(clock.pendingDelaysMs).toEqual([]);
  });
});
