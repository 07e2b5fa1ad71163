import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HelmBinary } from './find-helm.ts';
import { type GateVerdict, RenderGate, RenderGateScript } from './render-gate.ts';

const signal = new AbortController().signal;
const helm: HelmBinary = { path: '/bin/helm', version: '3.19.5', major: 3, minor: 19 };
let launcher: Launcher;
let root = '';

beforeAll(async () => {
  launcher = await startLauncher({ log: silentLogger, clock: systemClock });
});
afterAll(async () => await launcher.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'render-gate-'));
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

/** Calls the post-renderer as helm 3 does: the manifests on stdin, what is to be applied on stdout. */
async function postRender(
  directory: string,
  manifest: string,
): Promise<{ stdout: string; exitCode?: number }> {
  const script = await RenderGateScript.install(root, helm);
  const args = script.arguments(helm, directory);
  const values = args.filter((_, index) => args[index - 1]?.startsWith('--post-renderer') === true);
  const [file = '', ...rest] = values;
  return await execa(file, rest, { input: manifest, reject: false, stripFinalNewline: false });
}

async function passGate(
  decide: (rendered: string) => Promise<GateVerdict>,
): Promise<{ stdout: string; exitCode?: number }> {
  const directory = await mkdtemp(join(root, 'run-'));
  const gate = await RenderGate.open(
    directory,
    { runner: launcher, path: process.env['PATH'] ?? '' },
    signal,
  );
  return await gate.pass(async () => await postRender(directory, 'kind: A\n'.repeat(50_000)), decide);
}

test('a gate applies the manifests it is given', async () => {
  const { stdout, exitCode } = await passGate(
    async (rendered) => await Promise.resolve({ type: 'apply', manifest: rendered.replaceAll('A', 'B') }),
  );
  expect(exitCode).toBe(0);
  expect(stdout).toBe('kind: B\n'.repeat(50_000));
});

test('a gate makes helm fail when the run is called off', async () => {
  const { stdout, exitCode } = await passGate(async () => await Promise.resolve({ type: 'cancel' }));
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
});

test('a gate calls the run off when the decision fails, and throws that error', async () => {
  await expect(passGate(async () => await Promise.reject(new Error('API down')))).rejects.toThrow('API down');
});

test('a gate that helm never reaches does not hold anybody', async () => {
  const gate = await RenderGate.open(root, { runner: launcher, path: process.env['PATH'] ?? '' }, signal);
  expect(
    await gate.pass(
      async () => await Promise.resolve('failed before'),
      async () => await Promise.reject(),
    ),
  ).toBe('failed before');
});

test('a gate keeps rendered manifests from other users', async () => {
  const directory = await mkdtemp(join(root, 'run-'));
  const gate = await RenderGate.open(
    directory,
    { runner: launcher, path: process.env['PATH'] ?? '' },
    signal,
  );
  await gate.pass(
    async () => await postRender(directory, 'secret'),
    async () => await Promise.resolve({ type: 'apply', manifest: 'secret' }),
  );
  for (const name of await readdir(directory)) {
    expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
  }
});

test('a gate says why it cannot be opened', async () => {
  await expect(
    RenderGate.open(join(root), { runner: launcher, path: '/nowhere' }, signal),
  ).rejects.toMatchObject({ code: 'PROCESS_SPAWN' });
});

test('for helm 4 the post-renderer is a plugin', async () => {
  const helm4: HelmBinary = { path: '/bin/helm', version: '4.1.4', major: 4, minor: 1 };
  const script = await RenderGateScript.install(root, helm4);
  expect(script.arguments(helm4, '/run/x')).toEqual([
    '--post-renderer',
    'addon-operator-gate',
    '--post-renderer-args',
    '/run/x',
  ]);
  expect(await readdir(join(script.pluginsDir, 'addon-operator-gate'))).toEqual(['plugin.yaml']);
});
