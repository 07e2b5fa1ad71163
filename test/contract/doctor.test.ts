import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '@addon-operator/base/clock';
import { tarEntries } from '@addon-operator/base/tar';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const NOT_RUNNING = 'Note: no running operator responds, so queues, hooks and failures were not checked\n';

let backend: SandboxBackend;
let directory = '';
beforeAll(async () => {
  backend = await sandboxBackend();
  directory = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

interface Said {
  readonly exitCode: number;
  readonly text: string;
  readonly error: string;
}

async function doctor(world: World, ...more: readonly string[]): Promise<Said> {
  let [text, error] = ['', ''];
  const flags = Object.entries(world.flags).map(([flag, value]) => `--${flag}=${value}`);
  const exitCode = await runCli(['doctor', ...flags, ...more], {
    env: {
      ...world.hostEnv,
      ...world.settingsEnv,
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    },
    cwd: world.directory,
    clock: systemClock,
    stdout: { write: (part: string) => (text += part) },
    stderr: { write: (part: string) => (error += part) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, text, error };
}

const WEB = {
  'values.yaml': 'webEnabled: true\n',
  ...Object.fromEntries(
    Object.entries(configMapChart('web', 'web')).map(([path, text]) => [`001-web/${path}`, text]),
  ),
};

test('says nothing when all is well, and what was not checked without an operator', async () => {
  await using world = await World.create(backend, { modules: WEB });
  expect(await doctor(world)).toEqual({ exitCode: 0, text: '', error: NOT_RUNNING });
});

test('finds a key of no module and a release that helm left behind', async () => {
  await using world = await World.create(backend, { modules: WEB, config: { wbeEnabled: 'true' } });
  const { namespace } = world;
  await backend.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'helm.sh/release.v1',
      metadata: {
        name: 'sh.helm.release.v1.web.v1',
        namespace,
        labels: { owner: 'helm', name: 'web', status: 'pending-install', version: '1' },
      },
      data: { release: '' },
    },
  });
  const { exitCode, text } = await doctor(world);
  expect([exitCode, text]).toEqual([
    1,
    expect.stringMatching(
      /^the ConfigMap \S+ has wbe, but there is no such module \(unknown-key\)\n {2}kubectl -n \S+ edit configmap \S+\nrelease web is pending-install: .* \(release\)\n {2}addon-operator module release-unlock web\n$/,
    ),
  ]);
  const asJson = JSON.parse((await doctor(world, '-o', 'json')).text) as {
    readonly findings: readonly unknown[];
  };
  expect(asJson.findings).toHaveLength(2);
  expect((await doctor(world, '-o', 'name')).text).toBe('unknown-key\nrelease\n');
});

test('says why the operator cannot start', async () => {
  await using world = await World.create(backend, {
    modules: { ...WEB, '001-web/module.yaml': 'requirez: []\n' },
  });
  const { exitCode, text, error } = await doctor(world);
  expect([exitCode, text]).toEqual([
    1,
    expect.stringMatching(/requirez: unknown key.* \(start\)\n {2}addon-operator module lint\n$/),
  ]);
  expect(error).toContain('Note: the cluster was not checked, because the operator cannot start\n');
  const unreachable = await doctor(world, '--kube-config=/nowhere');
  expect(unreachable.text).toContain('kubectl config view --minify');
  expect((await doctor(world, '--hook-timeout=soon')).text).toContain(
    '(start)\n  addon-operator help flags\n',
  );
});

test('queries a running operator, and writes an archive without secrets', async () => {
  await using world = await World.create(backend, {
    modules: { ...WEB, '001-web/hooks/fails.sh': shHook('beforeHelm: 1', 'echo "no issuer" >&2; exit 1') },
  });
  await world.start();
  const bundle = join(directory, 'report.tar.gz');
  const said = await vi.waitFor(async () => {
    const found = await doctor(world, '-o', 'json');
    expect(found.text).toContain('"operator"');
    return found;
  }, WAIT);
  expect(said.exitCode).toBe(1);
  expect(said.error).toBe('');
  expect(await doctor(world, '--bundle', bundle)).toMatchObject({ exitCode: 1 });
  const files = [...tarEntries(gunzipSync(await readFile(bundle)))].map(({ name }) => name);
  expect(files).toEqual([
    'findings.json',
    'notChecked.json',
    'versions.json',
    'settings.json',
    'facts.json',
    'operator.json',
  ]);
  expect((await doctor(world, '--bundle', bundle)).error).toContain('--bundle: EEXIST');
});
