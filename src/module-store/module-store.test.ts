import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { ModuleStore } from './module-store.ts';
import { treeDigest } from './tree-digest.ts';

let directory: string;
let clock: FakeClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'module-store-'));
  clock = new FakeClock();
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const digestOf = (letter: string): string => `sha256:${letter.repeat(64)}`;
const A = digestOf('a');
const B = digestOf('b');

function content(digest: string, version = '1.0.0') {
  return { digest, module: 'web', version };
}

const fill =
  (text: string) =>
  async (path: string): Promise<void> => {
    await mkdir(join(path, 'templates'));
    await writeFile(join(path, 'Chart.yaml'), text);
    await writeFile(join(path, 'templates/a.yaml'), text);
  };

async function filled(): Promise<ModuleStore> {
  const store = new ModuleStore({ directory, clock });
  await store.recover();
  await store.add(content(A), fill('one'));
  await store.add(content(B, '1.1.0'), fill('two'));
  return store;
}

async function names(): Promise<readonly string[]> {
  return (await readdir(directory, { recursive: true })).filter((name) => /(^|\/)\.(tmp|trash)-/.test(name));
}

test('add() adds content once, with its facts', async () => {
  const store = await filled();
  await store.add(content(A), () => Promise.reject(new Error('filled twice')));
  expect(await store.list()).toEqual([
    { ...content(A), sizeBytes: 6, addedAtMs: clock.wallMs() },
    { ...content(B, '1.1.0'), sizeBytes: 6, addedAtMs: clock.wallMs() },
  ]);
  expect(await readFile(join(store.pathOf(B), 'Chart.yaml'), 'utf8')).toBe('two');
});

test('add() leaves nothing of content that cannot be written, and names the reason', async () => {
  const store = await filled();
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const adding = store.add(content(digestOf('c')), async (path) => {
    await writeFile(join(path, 'Chart.yaml'), 'half');
    throw full;
  });
  await expect(adding).rejects.toThrow(
    new OperatorError(
      'STORE_FAILED',
      `cannot add web 1.0.0 to the module store in ${directory}: ENOSPC: no space left on device`,
    ),
  );
  expect(await store.has(digestOf('c'))).toBe(false);
  expect(await names()).toEqual([]);
});

test('link() switches the link of a module, and removes its link of another order', async () => {
  const store = await filled();
  await store.link('030-web', A);
  expect(await readlink(join(directory, 'current/030-web'))).toBe(`../content/sha256-${'a'.repeat(64)}`);
  await store.link('030-web', B);
  expect(await store.links()).toEqual(new Map([['030-web', B]]));
  await store.link('040-web', A);
  expect(await store.links()).toEqual(new Map([['040-web', A]]));
  await expect(store.link('../web', A)).rejects.toThrow("'../web' cannot be the directory name of a module");
});

test('link() refuses content that is missing or damaged', async () => {
  const store = await filled();
  await store.link('030-web', A);
  await expect(store.link('030-web', digestOf('c'))).rejects.toThrow('was not added completely');
  await rm(join(store.pathOf(B), 'Chart.yaml'));
  await expect(store.link('030-web', B)).rejects.toThrow('differs from what was added');
  expect(await store.links()).toEqual(new Map([['030-web', A]]));
});

const DAMAGES: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'lacks a file': (path) => rm(join(path, 'templates/a.yaml')),
  'has another file': (path) => writeFile(join(path, 'templates/b.yaml'), ''),
  'has other bytes': (path) => writeFile(join(path, 'Chart.yaml'), 'owt'),
  'has another mode': (path) => chmod(join(path, 'Chart.yaml'), 0o700),
  'is empty': async (path) => {
    await rm(path, { recursive: true });
    await mkdir(path);
  },
  'is gone': (path) => rm(path, { recursive: true }),
  'has no mark': (path) => rm(`${path}.ok`),
  'has half a mark': (path) => writeFile(`${path}.ok`, '{"digest":'),
};

test.each(Object.keys(DAMAGES))('content that %s is absent, and can be added again', async (damage) => {
  const store = await filled();
  await store.link('030-web', A);
  expect(await store.has(A)).toBe(true);
  await DAMAGES[damage]?.(store.pathOf(A));
  await DAMAGES[damage]?.(store.pathOf(B));
  expect([await store.has(A), await store.has(B)]).toEqual([false, false]);
  const next = new ModuleStore({ directory, clock });
  expect([...(await next.recover())].toSorted()).toEqual([A, B]);
  // Linked content stays, so that its module is held and not taken for removed.
  expect([...(await next.links())]).toEqual([['030-web', A]]);
  expect((await readdir(join(directory, 'content'))).filter((name) => name.includes('bbb'))).toEqual([]);
  await next.add(content(A), fill('one'));
  expect(await next.has(A)).toBe(true);
});

test('byte code of Python does not change content', async () => {
  const store = await filled();
  await mkdir(join(store.pathOf(A), 'templates/__pycache__'));
  expect(await store.has(A)).toBe(true);
  expect(await treeDigest(store.pathOf(A))).not.toBe(await treeDigest(store.pathOf(B)));
});

test('content with a link or a device is read as it is', async () => {
  const store = await filled();
  await store.add(content(digestOf('c')), (path) => symlink('nowhere', join(path, 'link')));
  expect(await store.has(digestOf('c'))).toBe(true);
  const adding = store.add(content(digestOf('d')), (path) => symlinkToPipe(path));
  await expect(adding).rejects.toThrow('pipe is neither a file, a directory nor a symbolic link');
});

async function symlinkToPipe(path: string): Promise<void> {
  const child = spawn('mkfifo', [join(path, 'pipe')]);
  await once(child, 'close');
}

test('unlink() leaves a note until the module is linked again', async () => {
  const store = await filled();
  await store.link('030-web', A);
  await rm(join(directory, 'current/030-web'));
  expect(await store.removedModules()).toEqual(new Set());
  await store.link('030-web', A);
  await store.unlink('030-web');
  expect(await store.removedModules()).toEqual(new Set(['web']));
  await store.link('040-web', A);
  expect(await store.removedModules()).toEqual(new Set());
});

test('collect() removes what is old, not linked and not kept', async () => {
  const store = await filled();
  await store.link('030-web', A);
  const [kept, young] = [digestOf('c'), digestOf('d')];
  await store.add(content(kept), fill('three'));
  await clock.advance(10_000);
  await store.add(content(young), fill('four'));
  await clock.advance(5_000);
  expect((await store.collect(new Set([kept]), 10_000)).map(({ digest }) => digest)).toEqual([B]);
  expect((await store.list()).map(({ digest }) => digest)).toEqual([A, kept, young]);
  expect(await names()).toEqual([]);
});

test('a store that does not exist is empty', async () => {
  const store = new ModuleStore({ directory: join(directory, 'none'), clock });
  expect([await store.list(), [...(await store.links())], [...(await store.removedModules())]]).toEqual([
    [],
    [],
    [],
  ]);
});

test('a second writer waits until the first has finished', async () => {
  const [one, two] = [
    new ModuleStore({ directory, clock: systemClock }),
    new ModuleStore({ directory, clock: systemClock }),
  ];
  const events: string[] = [];
  const adding = (store: ModuleStore, digest: string) =>
    store.add(content(digest), async (path) => {
      events.push('begin');
      for (let turn = 0; turn < 50; turn += 1) await otherWork();
      await writeFile(join(path, 'Chart.yaml'), '');
      events.push('end');
    });
  await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((letter, index) =>
      adding(index % 2 === 0 ? one : two, digestOf(letter)),
    ),
  );
  expect(events).toEqual(Array.from({ length: 6 }, () => ['begin', 'end']).flat());
  expect((await readdir(directory)).filter((name) => name.includes('lock'))).toHaveLength(1);
});

/** Processes that are killed, in stores that are changed at the same time. */
const KILLS = 200;
const STORES = 4;

test('a process may be killed at any moment: contents are whole or absent, and links lead to whole ones', async () => {
  const linked = await Promise.all(
    Array.from({ length: STORES }, (_, index) => killedStore(join(directory, String(index)), index)),
  );
  expect(linked.reduce((sum, count) => sum + count)).toBeGreaterThan(KILLS / 5);
  expect(await names()).toEqual([]);
}, 80_000);

/** Kills processes one after another. Returns how many links were there to be checked. */
async function killedStore(path: string, first: number): Promise<number> {
  const worker = join(import.meta.dirname, '../../test/support/store/killed-store.ts');
  const reader = new ModuleStore({ directory: path, clock });
  let linked = 0;
  for (let kill = first; kill < KILLS; kill += STORES) {
    const child = spawn(process.execPath, [worker, path, String(kill), String((kill * 7) % 41)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [, signal] = await once(child, 'close');
    expect({ kill, signal }).toEqual({ kill, signal: 'SIGKILL' });
    for (const [entry, digest] of await reader.links()) {
      expect({ kill, entry, isWhole: await reader.has(digest) }).toEqual({ kill, entry, isWhole: true });
      linked += 1;
    }
    for (const { digest, module, version } of await reader.list()) {
      expect({ kill, digest, isWhole: await reader.has(digest) }).toEqual({ kill, digest, isWhole: true });
      const hook = await readFile(join(reader.pathOf(digest), 'hooks/run.sh'), 'utf8');
      expect(hook).toContain(`${module} ${version}`);
    }
  }
  await new ModuleStore({ directory: path, clock: systemClock }).recover();
  return linked;
}
