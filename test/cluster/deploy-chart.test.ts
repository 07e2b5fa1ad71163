import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CHECKER, create, createWorld, eventually, isDenied, webhook } from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { isAllowed } from '../support/control-plane/access-review.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Cluster } from '../support/control-plane/global-setup.ts';
import { CHART, type DeploymentObject, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { leaseOf, untilLeading } from '../support/replicas.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

/** Watches, and creates an object by a patch: what the operator must be allowed to do shows in both. */
const HOOK = `#!/bin/sh
if [ "$1" = --config ]; then
  echo '{"configVersion": "v1", "kubernetes": [{"kind": "Pod"}, {"kind": "Endpoints", "nameSelector": {"matchNames": ["web"]},' \\
    '"namespace": {"nameSelector": {"matchNames": ["'"$NAMESPACE-other"'"]}}}]}'
else
  echo '{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata":' \\
    '{"name": "by-hook", "namespace": "'"$NAMESPACE"'"}}}' > "$KUBERNETES_PATCH_PATH"
fi
`;

const MODULE = {
  '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  '001-web/values.yaml': 'webEnabled: true\n',
  '001-web/templates/objects.yaml': `apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [batch], resources: [jobs], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: web}]
---
apiVersion: v1
kind: Secret
metadata: {name: web}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: {{ .Release.Namespace }}-other}
---
apiVersion: chart-test.example.com/v1
kind: Gizmo
metadata: {name: web}
`,
  '001-web/crds/gizmos.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.chart-test.example.com}
spec:
  group: chart-test.example.com
  scope: Namespaced
  names: {plural: gizmos, kind: Gizmo}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
  '001-web/hooks/pods': HOOK,
};

describeCluster('the chart of the operator', (cluster) => {
  test('with the rules of rbac the operator works and has no other permissions, and without them it names the missing ones', async () => {
    const backend = await controlPlaneBackend(cluster());
    await using world = await World.create(backend, { modules: MODULE });
    await using other = await namespaceOf(world, 'other');
    await using foreign = await namespaceOf(world, 'foreign');
    const values = join(world.directory, 'rules.yaml');
    const printed = await runInWorld(world, 'rbac', '-o', 'values');
    expect(printed).toMatchObject({ exitCode: 0 });
    expect(printed.stderr).toContain('the rules do not include objects that hooks patch');
    await writeFile(values, printed.stdout);

    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const install = ['upgrade', '--install', 'op', CHART, '--namespace', world.namespace, ...IMAGE];
    await helm(...install, '--set', 'configMap.switches.webEnabled=true');
    const kubeconfig = await serviceAccountKubeconfig(cluster(), world.namespace, 'op');
    const env = await settingsOfDeployment(cluster(), world.namespace, 'op');
    const start = (): DaemonProcess =>
      DaemonProcess.start(world, {
        'kube-config': kubeconfig,
        'module-objects': 'true',
        'drift-mode': 'heal',
        ...env,
      });
    {
      await using daemon = start();
      const { error } = await daemon.record('ModuleRun failed. Requeue task to retry after delay.');
      expect(String(error)).toMatch(/pods is forbidden.*`addon-operator rbac`/s);
    }
    await helm(...install, '--values', values);
    await untilAuthorized(world, 'op');
    {
      await using daemon = start();
      await daemon.untilConverged();
      // The chart brought the definition, and its role suffices for Module objects.
      const module = { path: '/apis/addon-operator.io/v1alpha1/modules/web' };
      await vi.waitFor(async () => {
        const { body } = await backend.request(module);
        expect(body).toMatchObject({ status: { phase: 'Succeeded' } });
      }, 60_000);
      await backend.request({ method: 'DELETE', ...module });
      await vi.waitFor(async () => {
        const reported = await backend.request({ path: '/api/v1/namespaces/default/events' });
        expect(JSON.stringify(reported.body)).toContain('Revision 1 of release web is deployed');
      }, 60_000);
      const path = `/api/v1/namespaces/${world.namespace}`;
      expect((await backend.request({ path: `${path}/configmaps/by-hook` })).status).toBe(200);
      expect((await backend.request({ path: `${path}/secrets/sh.helm.release.v1.web.v1` })).status).toBe(200);
      expect((await backend.request({ path: `${path}/secrets/sh.helm.release.v1.op.v2` })).status).toBe(200);
      const secret = `/api/v1/namespaces/${other.name}/secrets/web`;
      expect((await backend.request({ path: secret })).status).toBe(200);
      const gizmos = `/apis/chart-test.example.com/v1/namespaces/${world.namespace}/gizmos/web`;
      expect((await backend.request({ path: gizmos })).status).toBe(200);
      await backend.request({ method: 'DELETE', path: secret });
      await vi.waitFor(
        async () => expect((await backend.request({ path: secret })).status).toBe(200),
        60_000,
      );
      expect(refusals(daemon)).toEqual([]);
      const seen = await runInWorld(world, 'rbac', '-o', 'json');
      expect(seen.stderr).toContain('only those patched since the daemon started');
      const { items } = JSON.parse(seen.stdout) as { items: { rules: unknown[] }[] };
      const [everywhere = [], own = []] = items.map(({ rules }) => rules);
      const written = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update'] };
      expect(own).toContainEqual(written);
      expect(own).toContainEqual({ apiGroups: ['batch'], resources: ['jobs'], verbs: ['get'] });
      expect(everywhere).toEqual([
        { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
          verbs: ['get', 'list', 'watch', 'create', 'update'],
        },
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions/status'],
          verbs: ['update'],
        },
      ]);
    }
    const may = (verb: string, resource: string, namespace: string, name = ''): Promise<boolean> =>
      isAllowed(world, 'op', { verb, resource, namespace, name });
    const allowed = {
      ownSecrets: await may('get', 'secrets', world.namespace),
      secretsOfTheChart: await may('create', 'secrets', other.name),
      whatTheHookNames: await may('list', 'endpoints', other.name, 'web'),
      podsEverywhere: await may('list', 'pods', ''),
    };
    const forbidden = {
      foreignSecret: await may('get', 'secrets', foreign.name),
      foreignSecrets: await may('list', 'secrets', foreign.name),
      allSecrets: await may('list', 'secrets', ''),
      foreignConfigMap: await may('create', 'configmaps', foreign.name),
      otherConfigMap: await may('create', 'configmaps', other.name),
      whatTheHookDoesNotName: await may('list', 'endpoints', other.name, 'db'),
      podOfItsOwn: await may('create', 'pods', world.namespace),
    };
    expect(Object.entries(allowed).filter(([, is]) => !is)).toEqual([]);
    expect(Object.entries(forbidden).filter(([, is]) => is)).toEqual([]);
  });

  test('with high availability and webhooks on, a replica leads, serves webhooks and removes a release with no more than its role', async () => {
    const backend = await controlPlaneBackend(cluster());
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('modules', {
      'values.yaml': 'webEnabled: true\n',
      // No ConfigMap: the right to delete one must come from the chart of the operator.
      '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      '001-web/templates/account.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n',
      '001-web/hooks/check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    const values = join(world.directory, 'rules.yaml');
    await writeFile(values, (await runInWorld(world, 'rbac', '-o', 'values')).stdout);
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const named = `--set=settings.VALIDATING_WEBHOOK_CONFIGURATION_NAME=${lab.name.replace(/-hooks$/, '')}`;
    const on = [
      '--set=highAvailability.enabled=true',
      '--set=webhooks.enabled=true',
      named,
      '--values',
      values,
    ];
    await helm('install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...on);
    await untilAuthorized(world, 'op');
    const budget = { path: `/apis/policy/v1/namespaces/${world.namespace}/poddisruptionbudgets/op` };
    expect(await world.expect(budget)).toMatchObject({ spec: { maxUnavailable: 1 } });
    const deployment = { path: `/apis/apps/v1/namespaces/${world.namespace}/deployments/op` };
    expect(await world.expect(deployment)).toMatchObject({ spec: { replicas: 2 } });

    const kubeconfig = await serviceAccountKubeconfig(cluster(), world.namespace, 'op');
    const settings = await settingsOfDeployment(cluster(), world.namespace, 'op');
    await using daemon = DaemonProcess.start(
      world,
      { 'kube-config': kubeconfig, ...settings },
      { ADDON_OPERATOR_HA: 'true', ADDON_OPERATOR_POD: 'pod-1', HELM_DRIVER: 'configmap' },
    );
    await untilLeading(daemon);
    await daemon.untilConverged();
    expect(String((await leaseOf(world))['holderIdentity'])).toMatch(/^pod-1\./);
    expect(refusals(daemon)).toEqual([]);
    const denied = await eventually(() => create(world, 'bad'), isDenied);
    expect(JSON.stringify(denied.body)).toContain('this name is bad');
    const record = 'sh.helm.release.v1.web.v1';
    expect(await world.get('configmaps', record)).toBeDefined();
    await world.merge('configmaps', 'addon-operator', { data: { webEnabled: 'false' } });
    await vi.waitFor(async () => expect(await world.get('configmaps', record)).toBeUndefined(), 60_000);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toMatchObject({ code: 0 });
    expect((await leaseOf(world))['holderIdentity'] ?? '').toBe('');
  });
});

/** Records of what the API server did not allow. */
function refusals({ log }: DaemonProcess): readonly unknown[] {
  return log.records.filter(
    (record) => record['status'] === 403 || /forbidden/i.test(JSON.stringify(record)),
  );
}

/** Waits until the API server, which decides by what it learned a moment ago, knows of the roles of an account. */
async function untilAuthorized(world: World, account: string): Promise<void> {
  const asked = { verb: 'get', resource: 'secrets', namespace: world.namespace, name: '' };
  await vi.waitFor(async () => expect(await isAllowed(world, account, asked)).toBe(true), 60_000);
}

/** A namespace beside that of the world, until the test ends. */
async function namespaceOf(world: World, suffix: string) {
  const name = `${world.namespace}-${suffix}`;
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await world.expect({ method: 'POST', path: '/api/v1/namespaces', body });
  return {
    name,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await world.backend.request({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    },
  };
}

/** The settings that the Deployment gives by plain variables, as flags. */
async function settingsOfDeployment(cluster: Cluster, namespace: string, name: string) {
  const { spec } = (await new ApiProbe(cluster.access).expect({
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
  })) as DeploymentObject;
  const env = spec.template.spec.containers[0]?.env ?? [];
  const valueOf = (variable: string): string => env.find((entry) => entry.name === variable)?.value ?? '';
  return {
    'config-map': valueOf('ADDON_OPERATOR_CONFIG_MAP'),
    'helm-ignore-release': valueOf('HELM_IGNORE_RELEASE'),
  };
}
