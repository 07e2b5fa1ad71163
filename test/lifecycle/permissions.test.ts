import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const RBAC = 'rbac.authorization.k8s.io';
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const WATCHING = ['list', 'watch'];

const MODULES = {
  'values.yaml': 'webEnabled: true\nfreshEnabled: true\n',
  '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  '001-web/templates/objects.yaml': `apiVersion: v1
kind: Secret
metadata: {name: web}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
---
apiVersion: ${RBAC}/v1
kind: Role
metadata: {name: web, namespace: default}
rules: [{apiGroups: [batch], resources: [jobs], verbs: [get]}]
---
apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: permissions-web}
rules: [{apiGroups: [batch], resources: [cronjobs], verbs: [get]}]
`,
  '001-web/hooks/watch.sh': shHook(
    `
kubernetes:
- {name: one, kind: Pod, namespace: {nameSelector: {matchNames: [default]}}, nameSelector: {matchNames: [web]}}
- {name: all, kind: ConfigMap}
`,
    'true',
  ),
  '002-fresh/Chart.yaml': 'apiVersion: v2\nname: fresh\nversion: 1.0.0\n',
  '002-fresh/templates/objects.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: permissions-fresh}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: fresh, namespace: permissions-fresh}
`,
};

interface Role {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly rules: readonly Readonly<Record<'apiGroups' | 'resources' | 'verbs', readonly string[]>>[];
}

/** What roles grant, a line for each resource: `namespace group/resource verbs`. */
function grantsOf(roles: readonly Role[]): string[] {
  return roles.flatMap(({ metadata, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.map((name) => `${metadata.namespace ?? '*'} ${apiGroups.join()}/${name} ${verbs.join()}`),
    ),
  );
}

/** What the command `rbac` prints. */
describeLifecycle((backend) => {
  test('rbac grants in a namespace what is needed only there, and lists what it cannot know', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    const { exitCode, stdout, stderr } = await runInWorld(world, 'rbac', '-o', 'json');
    const { items } = JSON.parse(stdout) as { readonly items: readonly Role[] };
    const all = DEPLOYING.join();
    expect([exitCode, items.map(({ kind }) => kind)]).toEqual([0, ['ClusterRole', 'Role', 'Role']]);
    expect(grantsOf(items).toSorted()).toEqual(
      [
        `* /configmaps ${WATCHING.join()}`,
        `* /namespaces ${all}`,
        // No Role can be in a namespace before the chart has made it.
        `* /serviceaccounts ${all}`,
        '* batch/cronjobs get',
        `* ${RBAC}/clusterroles ${all}`,
        `${world.namespace} /secrets ${all}`,
        `default /pods ${WATCHING.join()}`,
        `default /services ${all}`,
        'default batch/jobs get',
        `default ${RBAC}/roles ${all}`,
      ].toSorted(),
    );
    expect(items.at(-1)?.rules.concat(items[1]?.rules ?? [])).toContainEqual(
      expect.objectContaining({ resources: ['pods'], resourceNames: ['web'] }),
    );
    expect(stderr).toContain('the rules do not include objects that hooks patch');
    expect(stderr).toContain('permissions for permissions-fresh are granted cluster-wide');
    expect(stderr).toContain('kubectl -n default create rolebinding addon-operator-modules');
  });

  test('rbac grants what operations of hooks may need in one namespace only there, and notes that there may be more', async () => {
    const hook = `cat > "$KUBERNETES_PATCH_PATH" <<PATCH
{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "patched", "namespace": "$NAMESPACE"}}}
{"operation": "CreateIfNotExists", "object": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "created", "namespace": "$NAMESPACE"}}}
{"operation": "JQPatch", "apiVersion": "v1", "kind": "Secret", "namespace": "$NAMESPACE", "name": "missing", "jqFilter": ".", "ignoreMissingObject": true}
PATCH`;
    await using world = await World.create(backend(), {
      globalHooks: { 'patch.sh': shHook('onStartup: 1', hook) },
    });
    await world.converge();
    const { stdout, stderr } = await runInWorld(world, 'rbac', '-o', 'json');
    const { items } = JSON.parse(stdout) as { readonly items: readonly Role[] };
    expect(grantsOf(items).toSorted()).toEqual([
      `${world.namespace} /configmaps get,create,update`,
      `${world.namespace} /secrets get,update`,
      `${world.namespace} /serviceaccounts create`,
    ]);
    expect(stderr).toContain('only those patched since the daemon started');
  });
});

describeApiIndependent((backend) => {
  test('rbac leaves out a hook whose configuration fails, and names it', async () => {
    const watching = (kind: string): string =>
      shHook(`kubernetes: [{apiVersion: v1, kind: ${kind}}]`, 'true');
    const broken = '#!/bin/sh\n. "$NO_SUCH_DIRECTORY/lib.sh"\n';
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': watching('Node'), 'b.sh': broken, 'c.sh': watching('Namespace') },
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/a.sh': broken,
        '001-web/hooks/b.sh': watching('Event'),
      },
    });
    const { exitCode, stdout, stderr } = await runInWorld(world, 'rbac', '-o', 'json');
    const { items } = JSON.parse(stdout) as { readonly items: readonly Role[] };
    expect(grantsOf(items).toSorted()).toEqual(
      ['events', 'namespaces', 'nodes'].map((name) => `* /${name} ${WATCHING.join()}`),
    );
    expect([exitCode, stderr.match(/rules may be missing.*/gu)]).toEqual([
      1,
      [
        expect.stringMatching(/global hooks: cannot get config for hook '.*\/b\.sh'/u),
        expect.stringMatching(/hooks of module web: cannot get config for hook '.*\/a\.sh'/u),
      ],
    ]);
  });

  test('rbac renders charts with the values that hooks of the daemon have set', async () => {
    const set = (path: string, value: string): string =>
      `echo '{"op": "add", "path": "${path}", "value": "${value}"}' > "$VALUES_JSON_PATCH_PATH"`;
    await using world = await World.create(backend(), {
      globalHooks: { 'zone.sh': shHook('onStartup: 1', set('/global/zone', 'default')) },
      modules: {
        '001-web/values.yaml': 'webEnabled: true\n',
        '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
        '001-web/templates/object.yaml': `apiVersion: v1
kind: {{ required "no kind" .Values.web.kind }}
metadata: {name: permissions-by-hook, namespace: {{ .Values.global.zone }}}
`,
        '001-web/hooks/kind.sh': shHook('beforeHelm: 1', set('/web/kind', 'ServiceAccount')),
      },
    });
    const before = await runInWorld(world, 'rbac', '-o', 'json');
    expect(before).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no kind') });
    expect(before.stderr).toContain('charts are rendered without the values that hooks set');
    await world.converge();
    const { exitCode, stdout } = await runInWorld(world, 'rbac', '-o', 'json');
    const { items } = JSON.parse(stdout) as { readonly items: readonly Role[] };
    expect([exitCode, grantsOf(items)]).toEqual([0, [`default /serviceaccounts ${DEPLOYING.join()}`]]);
  });
});
