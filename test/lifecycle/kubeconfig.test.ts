import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { load } from 'js-yaml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfigs-'));
});

afterEach(() => rm(directory, { recursive: true }));

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

/**
 * The kubeconfig of the backend in two files: the first has the context and the cluster, whose CA is a file beside it, the
 * second the user, whose exec plug-in is a file beside it, and entries of the same names that do not count.
 */
async function splitKubeconfig(backend: Backend): Promise<string> {
  const whole = load(await readFile(backend.kubeconfigPath, 'utf8')) as Kubeconfig;
  const { 'certificate-authority-data': ca, ...cluster } = whole.clusters[0].cluster;
  const { 'client-certificate-data': cert, 'client-key-data': key } = whole.users[0].user;
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString();
  const [one, two] = [join(directory, 'one'), join(directory, 'two')];
  for (const path of [one, two]) await mkdir(path);
  if (ca !== undefined) await writeFile(join(one, 'ca.crt'), text(ca));
  const first = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'c', cluster: { ...cluster, ...(ca !== undefined && { 'certificate-authority': 'ca.crt' }) } },
    ],
  };
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: './credentials', args: ['a b'], interactiveMode: 'Never' };
  const second = {
    'current-context': 'y',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { exec } }],
  };
  const status =
    cert === undefined || key === undefined
      ? { token: 'any' }
      : { clientCertificateData: text(cert), clientKeyData: text(key) };
  const credentials = JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
  const plugin = `#!/bin/sh\n[ "$*" = 'a b' ] || exit 1\necho run >>'${directory}/runs'\ncat <<'END'\n${credentials}\nEND\n`;
  await writeFile(join(two, 'credentials'), plugin, { mode: 0o755 });
  await writeFile(join(one, 'config'), JSON.stringify(first));
  await writeFile(join(two, 'config'), JSON.stringify(second));
  return [join(one, 'config'), join(directory, 'missing'), join(two, 'config')].join(delimiter);
}

describeLifecycle((backend) => {
  test('helm follows several files in KUBECONFIG and the exec plug-in of their user, and nothing of them stays', async () => {
    const KUBECONFIG = await splitKubeconfig(backend());
    await using world = await World.create(backend(), {
      flags: { 'kube-config': '' },
      hookEnv: { KUBECONFIG },
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
      globalHooks: { 'a.sh': shHook('onStartup: 1', 'echo "hooks have $KUBECONFIG"') },
    });
    await world.converge();
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect(world.log.printed).toContain(`hooks have ${KUBECONFIG}`);
    const tmp = join(world.directory, 'tmp');
    const written = (await readdir(tmp)).filter((name) => /^run-\d+-helm-/.test(name));
    expect(written).toHaveLength(1);
    const path = join(tmp, written[0] ?? '', 'kubeconfig');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).not.toContain('127.0.0.1:1"');
    await world.stop();
    expect((await readdir(tmp)).filter((name) => name.startsWith('run-'))).toEqual([]);
  });
});
