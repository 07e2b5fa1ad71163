import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { FaultProxy, type Upstream } from '../support/fault-proxy.ts';
import { widgetDefinition } from '../support/widget-definition.ts';
import { type Backend, World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, under, writeTree } from '../support/world-files.ts';

const WEB = { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) };
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface PlanData {
  readonly outcome: string;
  readonly modules: readonly {
    readonly module: string;
    readonly action: string;
    readonly causes: readonly string[];
    readonly crds: readonly { readonly change: string; readonly object: string }[];
  }[];
}

interface PlanResult {
  readonly exitCode: number;
  readonly text: string;
  readonly data: PlanData;
}

/** Plans as text and as JSON, through a proxy that sees to it that nothing is written. */
async function plan(world: World, ...args: readonly string[]): Promise<PlanResult> {
  await using proxy = await FaultProxy.start(await upstreamOf(world));
  await writeTree(world.directory, { 'proxied-kubeconfig': proxy.kubeconfig });
  const flags = { ...world.flags, 'kube-config': join(world.directory, 'proxied-kubeconfig') };
  const { settingsEnv, hostEnv, directory } = world;
  const run = (...more: readonly string[]) =>
    runInWorld({ flags, settingsEnv, hostEnv, directory }, 'plan', ...args, ...more);
  const text = await run();
  const json = await run('-o', 'json');
  expect(text.stderr).toBe('');
  expect(json.exitCode).toBe(text.exitCode);
  expect(proxy.calls.length).toBeGreaterThan(0);
  expect(proxy.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  return { exitCode: text.exitCode, text: text.stdout, data: JSON.parse(json.stdout) as PlanData };
}

/** The API server of a world, from its kubeconfig. */
async function upstreamOf({ backend, directory }: World): Promise<Upstream> {
  const config = load(await readFile(backend.kubeconfigPath, 'utf8')) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const { server = '', ...cluster } = config.clusters[0].cluster;
  const { user } = config.users[0];
  const fields = {
    caFile: cluster['certificate-authority-data'],
    certFile: user['client-certificate-data'],
    keyFile: user['client-key-data'],
  };
  const files: Record<string, string> = {};
  for (const [name, data] of Object.entries(fields)) {
    if (data === undefined) continue;
    await writeTree(directory, { [name]: Buffer.from(data, 'base64').toString() });
    files[name] = join(directory, name);
  }
  return { serverUrl: server, ...files };
}

/** helm as a person at a terminal would use it. */
async function person({ backend, directory, namespace }: World, ...args: readonly string[]): Promise<void> {
  const env = {
    KUBECONFIG: backend.kubeconfigPath,
    HELM_CACHE_HOME: directory,
    HELM_CONFIG_HOME: directory,
  };
  await execa(backend.helmPath, [...args, '--namespace', namespace], { env, stdin: 'ignore' });
}

/** A world in which web was deployed and no daemon runs any more. */
async function deployedWorld(backend: Backend, modules: Readonly<Record<string, string>> = {}) {
  const world = await World.create(backend, { modules: { ...WEB, ...modules }, config: {} });
  await world.converge();
  await world.stop();
  return world;
}

async function restart(world: World): Promise<void> {
  await world.converge();
  await world.stop();
}

function crdYaml(group: string, field: string): string {
  const spec = `{type: object, properties: {${field}: {type: integer}}}`;
  return widgetDefinition(group, `{type: object, properties: {spec: ${spec}}}`);
}

export function planCauseTests(backend: () => Backend): void {
  test('a plan shows that an object which somebody deleted comes back', async () => {
    await using world = await deployedWorld(backend());
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing' } });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'web') });
    const { exitCode, text, data } = await plan(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: upgrade');
    expect(text).toContain(`  because the ConfigMap ${world.namespace}/web is missing\n`);
    expect(text).toContain('Modules: 0 to install, 1 to upgrade, 0 to delete, 0 without a change.');
    expect(data.modules).toMatchObject([
      { action: 'upgrade', causes: [`the ConfigMap ${world.namespace}/web is missing`], changes: [] },
    ]);
    await world.create('configmaps', { metadata: { name: 'web' } });
    expect((await plan(world)).text).toContain('/web lacks labels of its release\n');
    await restart(world);
    expect((await plan(world)).exitCode).toBe(0);
  });

  test('a plan shows that a revision which somebody made with helm is upgraded over', async () => {
    await using world = await deployedWorld(backend());
    await person(world, 'upgrade', 'web', join(world.directory, 'modules', '001-web'), '--reuse-values');
    const { exitCode, text, data } = await plan(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: upgrade');
    expect(text).toContain('  because revision 2 was not made by this operator\n');
    expect(data.modules).toMatchObject([
      { action: 'upgrade', causes: ['revision 2 was not made by this operator'] },
    ]);
    await restart(world);
    expect((await plan(world)).exitCode).toBe(0);
  });

  test('a plan shows that a revision which failed, was left unfinished or cannot be read is mended', async () => {
    await using world = await deployedWorld(backend());
    const record = 'sh.helm.release.v1.web.v1';
    for (const [status, cause] of [
      ['failed', 'revision 1 is failed'],
      ['pending-upgrade', 'revision 1 was left pending-upgrade'],
      ['uninstalling', 'revision 1 was left uninstalling'],
    ] as const) {
      await world.merge('secrets', record, { metadata: { labels: { status } } });
      const { exitCode, data } = await plan(world);
      expect([exitCode, data.modules[0]?.action, data.modules[0]?.causes]).toEqual([2, 'upgrade', [cause]]);
    }
    await world.merge('secrets', record, { metadata: { labels: { status: 'uninstalled' } } });
    expect((await plan(world)).data.modules).toMatchObject([{ action: 'install', causes: [] }]);
    await world.merge('secrets', record, { metadata: { labels: { status: 'deployed' } } });
    expect((await plan(world)).exitCode).toBe(0);
    await person(world, 'upgrade', 'web', join(world.directory, 'modules', '001-web'), '--reuse-values');
    await world.merge('secrets', 'sh.helm.release.v1.web.v2', { data: { release: 'bm90aGluZw==' } });
    expect((await plan(world)).data.modules).toMatchObject([
      {
        action: 'upgrade',
        causes: ['the record of revision 2 cannot be read', 'revision 1 is superseded'],
        changes: [],
      },
    ]);
  });

  test('a plan shows no change where a chart would render to other random texts, for it is not applied again', async () => {
    const template = `apiVersion: v1
kind: ConfigMap
metadata: {name: random}
data: {text: {{ randAlphaNum 12 }}}
`;
    await using world = await deployedWorld(backend(), { '001-web/templates/random.yaml': template });
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing' } });
    await restart(world);
    expect(await world.get('secrets', 'sh.helm.release.v1.web.v2')).toBeUndefined();
  });

  test('a plan shows CRDs that are created or updated, and those that cannot be', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: {} });
    const group = `${world.namespace}.example.com`;
    const file = '001-web/crds/widgets.yaml';
    await world.write('modules', { [file]: crdYaml(group, 'size') });
    const first = await plan(world);
    expect(first.text).toContain('+ web: install');
    expect(first.text).toContain(`  CRD widgets.${group} would be created\n`);
    await restart(world);
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { modules: [{ crds: [] }] } });

    await world.write('modules', { [file]: crdYaml(group, 'height') });
    const { exitCode, text, data } = await plan(world);
    expect(exitCode).toBe(2);
    expect(text).toContain('~ web: only its CRDs change');
    expect(text).toContain(`  CRD widgets.${group} would be updated\n`);
    expect(text).toMatch(/ {4}- +size:\n {4}\+ +height:\n/);
    expect(text).toContain('0 without a change, 1 with changed CRDs only.');
    expect(data.outcome).toBe('changes');
    expect(data.modules).toMatchObject([
      { action: 'apply-crds', crds: [{ change: 'change', object: `widgets.${group}` }] },
    ]);

    await world.write('modules', { [file]: crdYaml(group, 'size').replace('name: v1', 'name: v2') });
    const refused = await plan(world);
    expect(refused.exitCode).toBe(1);
    expect(refused.text).toContain(`  ! CRD widgets.${group}: version v1 is gone from the file`);
    await world.backend.request({ method: 'DELETE', path: `${CRDS}/widgets.${group}` });
  });

  test('a plan purges releases of others only with --purge-foreign-releases', async () => {
    await using world = await World.create(backend(), { modules: {} });
    await world.write('modules', under('../theirs', configMapChart('theirs', 'web')));
    await person(world, 'install', 'theirs', join(world.directory, 'theirs'), '--set', 'web.a=b');
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing', modules: [] } });
    const { exitCode, text, data } = await plan(world, '--purge-foreign-releases=true');
    expect(exitCode).toBe(2);
    expect(text).toContain(
      '- theirs: purge  (a release of others without a module, and --purge-foreign-releases is set)',
    );
    expect(data.modules).toMatchObject([{ module: 'theirs', action: 'purge' }]);
  });
}
