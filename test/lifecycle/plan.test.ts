import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, shHook, under } from '../support/world-files.ts';

const CHART = {
  'Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
  'templates/objects.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}-{{ .Release.Name }}}
data: {color: {{ index .Values .Release.Name "color" | default "red" }}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData: {password: {{ index .Values .Release.Name "password" | default "hunter2" | quote }}}
`,
};

const MODULES = {
  ...under('001-web', CHART),
  '001-web/values.yaml': 'webEnabled: true\n',
  '001-web/hooks/before.sh': announcer('before', { beforeHelm: 7 }),
  ...under('002-db', CHART),
  '002-db/values.yaml': 'dbEnabled: true\n',
  '002-db/hooks/bye.sh': announcer('bye', { beforeHelm: 2, afterDeleteHelm: 3 }),
  '003-off/hooks/a.sh': announcer('a', { onStartup: 1 }),
};

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/**
 * Comes into any namespace at any time: the controller manager writes root certificates into new ones, and the example
 * that copies Secrets into all of them may run in the same cluster.
 */
function isOfOthers({ metadata: { name, labels } }: Listed): boolean {
  return name === 'kube-root-ca.crt' || labels?.['secret-copier'] !== undefined;
}

/** Everything in the namespace that a plan could have touched, with its version. */
async function versions(world: World): Promise<string[]> {
  const kinds = await Promise.all(
    ['configmaps', 'secrets'].map(async (plural) => {
      const list = (await world.expect({ path: world.path(plural) })) as { items: readonly Listed[] };
      return list.items
        .filter((object) => !isOfOthers(object))
        .map(({ metadata }) => `${plural}/${metadata.name} ${metadata.resourceVersion}`);
    }),
  );
  return kinds.flat().toSorted();
}

describeLifecycle((backend) => {
  test('a plan shows what a first start would install, and changes nothing', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      globalHooks: { 'nodes.sh': shHook('kubernetes:\n- {name: nodes, kind: Node}', 'echo global') },
    });
    const before = await versions(world);
    const files = await readdir(world.directory, { recursive: true });
    const { exitCode, stdout, stderr } = await runInWorld(world, 'plan');
    expect(stderr).toBe('');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('Global hooks: nodes.sh (kubernetes nodes (Node))');
    expect(stdout).toContain('+ web: install  (webEnabled in the values.yaml of the module is true)');
    expect(stdout).toContain('  hooks: hooks/before.sh (beforeHelm 7)\n');
    expect(stdout).toContain('  hooks: hooks/bye.sh (beforeHelm 2)\n');
    expect(stdout).toContain('the following may differ: hooks/before.sh may change values before helm runs');
    expect(stdout).toContain(`v1/ConfigMap ${world.namespace}/chart-web is created`);
    expect(stdout).toContain('    +   color: red');
    expect(stdout).toContain('  off: stays off');
    expect(stdout).toContain('Modules: 2 to install, 0 to upgrade, 0 to delete, 1 without a change.');
    expect(stdout).not.toContain('hunter2');
    expect(await versions(world)).toEqual(before);
    const added = (await readdir(world.directory, { recursive: true })).filter(
      (name) => !files.includes(name),
    );
    expect(added.filter((name) => name !== 'helm-calls')).toEqual([]);
  });

  test('after a converge there is nothing to do, then what was changed on disk and in the ConfigMap shows', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await world.stop();
    const quiet = await runInWorld(world, 'plan');
    expect(quiet.stdout).toContain('= web: no change');
    expect(quiet.stdout).toContain('Modules: 0 to install, 0 to upgrade, 0 to delete, 3 without a change.');
    expect(quiet.exitCode).toBe(0);

    await world.putConfig({ web: 'color: blue\npassword: swordfish\n', dbEnabled: 'false' });
    const before = await versions(world);
    const { exitCode, stdout } = await runInWorld(world, 'plan', '-o', 'json');
    expect(exitCode).toBe(2);
    const plan = JSON.parse(stdout) as {
      outcome: string;
      modules: {
        module: string;
        action: string;
        reason: string;
        hooks: unknown;
        changes: { object: string; lines: unknown[] }[];
      }[];
    };
    expect(plan.outcome).toBe('changes');
    expect(plan.modules.map(({ module, action }) => `${module} ${action}`)).toEqual([
      'off stay-off',
      'db delete',
      'web upgrade',
    ]);
    const [, db, web] = plan.modules;
    expect(db?.reason).toBe('dbEnabled in the ConfigMap is false');
    expect(db?.hooks).toEqual([{ hook: 'hooks/bye.sh', when: ['afterDeleteHelm 3'] }]);
    expect(web?.changes.map(({ object }) => object)).toEqual([
      `v1/ConfigMap ${world.namespace}/chart-web`,
      `v1/Secret ${world.namespace}/web`,
    ]);
    expect(web?.changes[0]?.lines).toContainEqual({ type: 'added', text: '  color: blue' });
    expect(stdout).not.toMatch(/hunter2|swordfish/);
    expect(await versions(world)).toEqual(before);
    const only = await runInWorld(world, 'plan', 'off');
    expect(only).toMatchObject({ exitCode: 0 });
    expect(only.stdout).not.toContain('web');
  });

  test('module render --diff shows what the chart dropped, and names what it cannot compare beside the rest', async () => {
    const template = (text: string) => ({ '001-web/templates/objects.yaml': text });
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: ';
    const other = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n';
    await using world = await World.create(backend(), {
      modules: { ...MODULES, ...template(`${map}{color: red, size: "3"}\n${other}`) },
    });
    await world.converge();
    await world.merge('configmaps', 'web', { data: { own: 'kept' } });
    const gadget = '---\napiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: web}\n';
    await world.write('modules', template(`${map}{color: red}\n${gadget}`));
    const { stdout, exitCode } = await runInWorld(world, 'module', 'render', 'web', '--diff');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('   color: red\n   own: kept\n-  size: ');
    expect(stdout).toContain(`--- cluster/v1/ConfigMap ${world.namespace}/other\n+++ /dev/null\n`);
    expect(stdout).toContain(`# example.com/v1/Gadget ${world.namespace}/web cannot be compared: `);
  });

  test('module render shows manifests, what they would change in the cluster, and output that is not YAML', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    const rendered = await runInWorld(world, 'module', 'render', 'web');
    expect(rendered.stdout).toContain('name: chart-web');
    expect((await runInWorld(world, 'module', 'render', 'web', '--diff')).stdout).toBe('No diff found\n');
    await world.merge('configmaps', 'chart-web', { data: { color: 'green', own: 'kept' } });
    await world.merge('secrets', 'web', { data: { password: 'c3dvcmRmaXNo' } });
    const { stdout } = await runInWorld(world, 'module', 'render', 'web', '--diff');
    const title = `v1/ConfigMap ${world.namespace}/chart-web`;
    expect(stdout).toContain(`--- cluster/${title}\n+++ rendered/${title}\n`);
    expect(stdout).toContain('-  color: green\n+  color: red\n');
    expect(stdout).toContain("-  password: '*** (before)'\n+  password: '*** (after)'\n");
    expect(stdout).not.toMatch(/c3dvcmRmaXNo|swordfish|hunter2/);
    expect((await world.get('configmaps', 'chart-web'))?.['data']).toEqual({ color: 'green', own: 'kept' });

    await world.write('modules', { '001-web/templates/bad.yaml': 'a: b: c\n' });
    const failed = await runInWorld(world, 'module', 'render', 'web');
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(failed.stderr).toContain('bad.yaml');
    const debug = await runInWorld(world, 'module', 'render', 'web', '--debug');
    expect(debug.exitCode).toBe(0);
    expect(debug.stdout).toContain('a: b: c');
    expect(debug.stdout).toMatch(/# Error:\n# .*bad\.yaml/);
  });
});

describeApiIndependent((backend) => {
  test('a module in maintenance is unmanaged, with any values, and managed again afterwards', async () => {
    const maintenance = { webMaintenance: 'NoResourceReconciliation' };
    await using world = await World.create(backend(), { modules: MODULES, config: maintenance });
    await world.converge();
    await world.stop();
    await world.putConfig({ ...maintenance, web: 'color: blue\n' });
    const left = await runInWorld(world, 'plan', 'web');
    expect(left.stdout).toContain('= web: no change  (webMaintenance is set: the release is not changed)');
    expect(left.exitCode).toBe(0);
    await world.putConfig({ web: 'color: blue\n' });
    const { exitCode, stdout } = await runInWorld(world, 'plan', 'web');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('~ web: upgrade');
    expect(stdout).toMatch(/- +maintenance\.deckhouse\.io\/no-resource-reconciliation/);
  });

  test('a chart that cannot be rendered is named with its template and line, and the other modules are shown', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...MODULES,
        '001-web/templates/bad.yaml': 'apiVersion: v1\n{{ required "give it a size" .Values.web.size }}\n',
      },
    });
    const { exitCode, stdout } = await runInWorld(world, 'plan');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('web: cannot be determined');
    expect(stdout).toMatch(/templates\/bad\.yaml:2/);
    expect(stdout).toContain('give it a size');
    expect(stdout).toContain('+ db: install');
  });

  test('values that do not match the schema are reported, except those that hooks may still set', async () => {
    const schema = `
type: object
required: [size]
properties: {size: {type: integer}, color: {type: string, enum: [red, blue]}}
`;
    await using world = await World.create(backend(), {
      modules: {
        ...MODULES,
        '001-web/openapi/values.yaml': schema,
        '002-db/openapi/values.yaml': schema,
        '002-db/values.yaml': 'dbEnabled: true\ndb: {size: 1, color: green}\n',
        '002-db/hooks/bye.sh': announcer('bye', { afterDeleteHelm: 3 }),
      },
    });
    const { exitCode, stdout } = await runInWorld(world, 'plan');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('+ web: install');
    expect(stdout).toContain('db: cannot be determined');
    expect(stdout).toContain('db.color in body should be one of [red blue]');
  });

  test('a module that does not exist is an error', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    const { exitCode, stderr } = await runInWorld(world, 'plan', 'wbe');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('no module or release named wbe');
  });
});
