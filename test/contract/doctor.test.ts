import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '@addon-operator/base/clock';
import { tarEntries } from '@addon-operator/files/tar';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, writeTree } from '../support/world-files.ts';

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
  const flags = Object.entries(world.flags).map(([flag, value]) => `--${flag}=${value}`);
  const env = { ...world.hostEnv, ...world.settingsEnv };
  return await command(['doctor', ...flags, ...more], world.directory, env);
}

async function command(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = { HOME: cwd },
): Promise<Said> {
  let [text, error] = ['', ''];
  const exitCode = await runCli(args, {
    env: { ...env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    cwd,
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

const DELIVERY = 'apiVersion: addon-operator.io/v1alpha1\n';

test('finds sources that cannot be read: registries, accounts and keys', async () => {
  const source = (name: string, spec: string): string =>
    `${DELIVERY}kind: ModuleSource\nmetadata: {name: ${name}}\nspec: {${spec}}\n---\n`;
  const keys = 'verify: {cosign: {keys: [{configMapRef: {name: keys, key: cosign.pub}}]}}';
  await using world = await World.create(backend, { modules: WEB });
  const noKeys = { metadata: { name: 'keys' }, data: { 'cosign.pub': 'no key' } };
  await world.create('configmaps', noKeys);
  const media = join(world.directory, 'media');
  await mkdir(join(media, 'first'), { recursive: true });
  await writeFile(join(media, 'first/index.json'), '{"schemaVersion":2,"manifests":[]}');
  const install = (name: string, from: string): string =>
    `${DELIVERY}kind: ModuleInstall\nmetadata: {name: ${name}}\nspec: {source: ${from}, order: 30, version: {channel: stable}}\n---\n`;
  const installs = ['first', 'second', 'third'].map((name) => install(name, 'media')).join('');
  const file = join(world.directory, 'sources.yaml');
  await writeFile(
    file,
    `${source('media', `url: "oci-layout://${media}"`)}${installs}${source('away', 'url: "oci://localhost:1/modules"')}${source('account', 'url: "oci://localhost:1/a", auth: {secretRef: {name: none}}')}${source('key', `url: "oci://localhost:1/b", ${keys}`)}${install('web', 'away')}${install('db', 'away')}`,
  );
  const flags = [`--module-sources=${file}`, `--module-store=${join(world.directory, 'store')}`];
  const { exitCode, text } = await doctor(world, ...flags);
  expect([exitCode, text.split('\n').filter((line) => line.endsWith('(source)'))]).toEqual([
    1,
    [
      ...['second', 'third'].map((name) =>
        expect.stringMatching(
          new RegExp(`^ModuleSource media: .*/media/${name}: there is no index.json`, 'u'),
        ),
      ),
      expect.stringMatching(/^ModuleSource away: .*localhost:1/),
      expect.stringMatching(/^ModuleSource account: Secret .*\/none does not exist/),
      expect.stringMatching(/^ModuleSource key: .*no PEM block/),
    ],
  ]);
});

test('says why the operator cannot start', async () => {
  await using world = await World.create(backend, {
    modules: { ...WEB, '001-web/values.yaml': 'web: [\n' },
  });
  const { exitCode, text, error } = await doctor(world);
  expect([exitCode, text]).toEqual([
    1,
    expect.stringMatching(/001-web\/values\.yaml:2: .* \(start\)\n {2}addon-operator module lint\n$/),
  ]);
  expect(error).toContain('Note: the cluster was not checked, because the operator cannot start\n');
  const unreachable = await doctor(world, '--kube-config=/nowhere');
  expect(unreachable.text).toContain('kubectl config view --minify');
  expect((await doctor(world, '--hook-timeout=soon')).text).toContain(
    '(start)\n  addon-operator help flags\n',
  );
});

test('names a module that is held, with the mistake in its file', async () => {
  await using world = await World.create(backend, {
    modules: { ...WEB, '001-web/module.yaml': 'requires: db\n' },
  });
  const { exitCode, text } = await doctor(world);
  expect(exitCode).toBe(1);
  expect(text).toMatch(
    /module web is not run: .*001-web\/module\.yaml: requires: expected a list.*\n {2}addon-operator module lint\n$/,
  );
});

test('works beside a running operator with its settings, cluster and values', async () => {
  await using world = await World.create(backend, {
    flags: { 'secret-references': '*' },
    modules: {
      'values.yaml':
        'webEnabled: true\nweb: {password: {valueFrom: {secretKeyRef: {name: db, key: password}}}}\n',
      '001-web/Chart.yaml': 'name: web\nversion: 0.1.0\n',
      '001-web/templates/a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: {{ required "no port" .Values.web.port | quote }}, b: {{ trimSuffix "x" .Values.web.password | len | quote }}}
`,
      '001-web/hooks/port.sh': shHook(
        'beforeHelm: 1',
        `echo '{"op": "add", "path": "/web/port", "value": "80"}' >"$VALUES_JSON_PATCH_PATH"`,
      ),
    },
  });
  const { namespace, directory: cwd } = world;
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace },
    stringData: { password: 'p4ssw0rd' },
  };
  await backend.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body });
  await world.converge();
  const socket = `--debug-unix-socket=${world.flags['debug-unix-socket']}`;
  expect(await command(['doctor', socket], cwd)).toEqual({ exitCode: 0, text: '', error: '' });
  const plan = await command(['plan', socket, 'web'], directory);
  expect(plan).toMatchObject({ exitCode: 0, error: '' });
  expect((await command(['rbac', socket], cwd)).text).toContain('configmaps');
});

test('checks and plans modules without a cluster', async () => {
  const cwd = await mkdtemp(join(directory, 'modules-'));
  const modules = join(cwd, 'modules');
  const env = { HOME: cwd, MODULES_DIR: modules };
  await writeTree(modules, WEB);
  const well = await command(['doctor'], cwd, env);
  expect(well).toMatchObject({ exitCode: 0, text: '' });
  expect(well.error).toBe(
    `Note: no cluster is configured, so modules and hooks were checked on an empty one\n${NOT_RUNNING}`,
  );
  const plan = await command(['plan'], cwd, env);
  expect(plan).toMatchObject({ exitCode: 2, text: expect.stringContaining('+ web: install') });
  expect(plan.error).toBe(
    'Note: no cluster is configured (--kube-config): this is the plan for an empty one\n',
  );
  await writeTree(modules, {
    '001-web/templates/a.yaml': '{{ required "no port" .Values.web.port }}',
  });
  expect(await command(['doctor'], cwd, env)).toMatchObject({ text: expect.stringContaining('no port') });
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
