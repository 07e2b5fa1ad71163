import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pruneLayers, stepResult } from './prune-layers.ts';

const engine = { name: 'buildah', env: {} } as const;
const signal = new AbortController().signal;
const id = (letter: string): string => letter.repeat(64);

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'layers-'));
  await mkdir(join(directory, 'cache/image'), { recursive: true });
  vi.stubEnv('PATH', `${directory}:${process.env['PATH'] ?? ''}`);
  vi.stubEnv('ADDON_OPERATOR_CACHE_DIR', join(directory, 'cache'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

test.each([
  [`--> Using cache ${id('a')}`, id('a')],
  [`[2/3] --> Using cache ${id('a')}`, id('a')],
  ['--> a595afb19c7', 'a595afb19c7'],
  ['STEP 2/7: ARG DEBIAN_SNAPSHOT=', undefined],
  ['--> not an id', undefined],
])('the result of a step is read from %s', (line, result) => {
  expect(stepResult(line)).toBe(result);
});

describe('layers without a name', () => {
  test('are removed when the newest build does not use them', async () => {
    await store([`${id('a')} <none>:<none>`, `${id('b')} <none>:<none>`, `${id('c')} localhost/op:latest`]);
    await prune('localhost/op:latest', ['b'.repeat(11), id('c')]);
    expect(await removals()).toEqual([id('a')]);
  });

  test('are kept for other images and other checkouts, while these exist', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${id(letter)} <none>:<none>`);
    await store([`${id('1')} op:latest`, `${id('2')} op:python`, ...all]);
    const other = join(directory, 'other');
    await mkdir(other);
    await prune('op:python', [id('a')]);
    await prune('op:latest', [id('b')], other);
    await prune('op:latest', [id('c')]);
    await forgetRemovals();
    await prune('op:latest', [id('d')]);
    expect(await removals()).toEqual([id('c'), id('e')]);

    await rm(other, { recursive: true });
    await store([`${id('1')} op:latest`, ...all]);
    await forgetRemovals();
    await prune('op:latest', [id('e')]);
    expect(await removals()).toEqual([id('a'), id('b'), id('c'), id('d')]);
  });

  test('are removed with the image that only a checkout has which is gone', async () => {
    const layers = ['a', 'b', 'c'].map((letter) => `${id(letter)} <none>:<none>`);
    await store([`${id('1')} test:other`, `${id('2')} op:latest`, ...layers]);
    const other = join(directory, 'other');
    await mkdir(other);
    await prune('test:other', [id('a')], other);
    await prune('op:latest', [id('b')], other);
    await forgetRemovals();
    await rm(other, { recursive: true });
    await prune('op:latest', [id('c')]);
    expect(await removals()).toEqual(['test:other', id('a'), id('b')]);
  });

  test('are not looked for when the build is that of before, or when its steps are not known', async () => {
    await store([`${id('1')} op:latest`, `${id('a')} <none>:<none>`]);
    await prune('op:latest', []);
    expect(await removals()).toEqual([]);
    await prune('op:latest', [id('b')]);
    expect(await removals()).toEqual([id('a')]);
    await forgetRemovals();
    await prune('op:latest', [id('b')]);
    expect(await removals()).toEqual([]);
  });

  test('may be in use by containers', async () => {
    await store([`${id('a')} <none>:<none>`]);
    await writeFile(join(directory, 'fail'), '');
    await prune('op:latest', [id('b')]);
    expect(await removals()).toEqual([id('a')]);
  });
});

async function prune(image: string, steps: readonly string[], checkout = directory): Promise<void> {
  const isOfCheckout = image.startsWith('test:');
  await pruneLayers(engine, { checkout, image, isOfCheckout, steps }, signal);
}

/** Stands in for buildah, with these images. */
async function store(images: readonly string[]): Promise<void> {
  await writeFile(
    join(directory, 'images'),
    images.map((line) => `sha256:${line.replace(' ', '   ')}\n`).join(''),
  );
  const script = `#!/bin/sh
case $1 in
  images) cat "${directory}/images" ;;
  rmi) shift; printf '%s\\n' "$@" >>"${directory}/removed"; [ ! -e "${directory}/fail" ] ;;
esac
`;
  await writeFile(join(directory, 'buildah'), script);
  await chmod(join(directory, 'buildah'), 0o755);
}

async function removals(): Promise<readonly string[]> {
  const text = await readFile(join(directory, 'removed'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

async function forgetRemovals(): Promise<void> {
  await rm(join(directory, 'removed'), { force: true });
}
