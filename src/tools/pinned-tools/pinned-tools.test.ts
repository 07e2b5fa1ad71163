import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pinnedHelm, pinnedKubectl } from './pinned-tools.ts';

const signal = new AbortController().signal;
let cacheDir = '';

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'pinned-tools-'));
});
afterEach(async () => await rm(cacheDir, { recursive: true, force: true }));

test('pinnedHelm() hands out the cached helm without fetching, on any platform', async () => {
  await mkdir(join(cacheDir, 'helm-4.1.4'));
  await writeFile(join(cacheDir, 'helm-4.1.4/helm'), '', { mode: 0o755 });
  const messages: string[] = [];
  const options = { cacheDir, platform: 'darwin', onProgress: (message: string) => messages.push(message) };
  expect(await pinnedHelm(4, options, signal)).toBe(join(cacheDir, 'helm-4.1.4/helm'));
  expect(messages).toEqual([]);
});

test('pinnedHelm() says how to install helm where no pinned one exists', async () => {
  await expect(pinnedHelm(3, { cacheDir, platform: 'darwin', arch: 'arm64' }, signal)).rejects.toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: expect.stringMatching(
      /no pinned helm-3\.17\.3 for darwin\/arm64.*helm\.sh\/docs\/intro\/install/,
    ),
  });
});

test('pinnedKubectl() says how to install kubectl where no pinned one exists', async () => {
  await expect(pinnedKubectl({ cacheDir, platform: 'linux', arch: 'arm64' }, signal)).rejects.toThrow(
    'kubernetes.io/docs/tasks/tools',
  );
});

test('pinnedHelm() leaves nothing behind when it is stopped', async () => {
  const aborted = AbortSignal.abort(new Error('stopping'));
  const options = { cacheDir, platform: 'linux', arch: 'x64' };
  await expect(pinnedHelm(4, options, aborted)).rejects.toThrow('stopping');
  expect(await readdir(cacheDir)).toEqual([]);
});
