import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessResult, ProcessRunner, ProcessSpec } from '@addon-operator/process/process-runner';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHelm } from './find-helm.ts';

const signal = new AbortController().signal;
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'find-helm-'));
  for (const name of ['first', 'second']) await mkdir(join(root, name));
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

async function executable(path: string): Promise<string> {
  await writeFile(join(root, path), '');
  await chmod(join(root, path), 0o755);
  return join(root, path);
}

/** Returns `version` for every file it is asked to run. */
function telling(version: string, exitCode = 0): ProcessRunner {
  const result: ProcessResult = {
    outcome: { type: 'exited', exitCode },
    stdout: version,
    isStdoutTruncated: false,
    stderr: exitCode === 0 ? '' : 'cannot start',
    durationMs: 1,
  };
  return { run: async (_spec: ProcessSpec) => await Promise.resolve(result) };
}

async function find(
  options: { helmBinPath?: string; path?: string; pinned?: string },
  runner = telling('v3.19.5'),
): Promise<string> {
  const { helmBinPath = '', path = '', pinned } = options;
  const helm = await findHelm(
    {
      runner,
      helmBinPath,
      path,
      versionFile: join(root, 'version.json'),
      pinned: async () =>
        await (pinned === undefined ? Promise.reject(new Error('offline')) : Promise.resolve(pinned)),
    },
    signal,
  );
  return helm.path;
}

test('findHelm() takes HELM_BIN_PATH before PATH', async () => {
  const chosen = await executable('helm-of-mine');
  await executable('first/helm');
  expect(await find({ helmBinPath: chosen, path: join(root, 'first') })).toBe(chosen);
});

test('findHelm() looks a bare HELM_BIN_PATH up in PATH', async () => {
  const chosen = await executable('first/helm3');
  expect(await find({ helmBinPath: 'helm3', path: join(root, 'first') })).toBe(chosen);
});

test('findHelm() takes the first executable file in PATH', async () => {
  await writeFile(join(root, 'first/helm'), 'no exec bit');
  const chosen = await executable('second/helm');
  expect(await find({ path: `relative:${join(root, 'first')}:${join(root, 'second')}` })).toBe(chosen);
});

test('findHelm() takes the pinned copy when PATH has none', async () => {
  const pinned = await executable('pinned');
  expect(await find({ path: join(root, 'second'), pinned })).toBe(pinned);
});

test('findHelm() says how to install helm when there is none', async () => {
  await expect(find({})).rejects.toMatchObject({
    code: 'HELM_NOT_FOUND',
    message: expect.stringContaining('helm.sh'),
  });
});

test('findHelm() names a HELM_BIN_PATH that is no executable', async () => {
  await expect(find({ helmBinPath: '/nowhere/helm' })).rejects.toMatchObject({
    code: 'HELM_NOT_FOUND',
    message: expect.stringContaining('HELM_BIN_PATH names "/nowhere/helm"'),
  });
});

test('findHelm() refuses a version it cannot drive', async () => {
  await expect(find({ pinned: '/cache/helm' }, telling('v2.17.0'))).rejects.toMatchObject({
    code: 'HELM_NOT_FOUND',
    message: expect.stringContaining('"v2.17.0"'),
  });
});

test('findHelm() reports a helm whose version cannot be read', async () => {
  await expect(find({ pinned: '/cache/helm' }, telling('', 1))).rejects.toMatchObject({
    code: 'HELM_NOT_FOUND',
    message: expect.stringContaining('cannot start'),
  });
});
