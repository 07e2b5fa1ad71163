import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { load } from 'js-yaml';
import { expect, test, vi } from 'vitest';
import { METRICS } from '../../src/metrics/metric-table.ts';
import { readSetting } from '../../src/settings/read-settings.ts';
import { CHECKER, create, createWorld, eventually, isDenied, webhook } from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster, helmPath, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import type { Cluster } from '../support/control-plane/global-setup.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { leaseOf, untilLeading } from '../support/replicas.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const CHART = join(import.meta.dirname, '../../deploy/addon-operator');
const IMAGE = ['--set', 'image.repository=registry.example.com/operator'];
const EVERYTHING = [
  ...IMAGE,
  '--set=highAvailability.enabled=true',
  '--set=webhooks.enabled=true',
  '--set=metrics.serviceMonitor.enabled=true',
  '--set=metrics.alerts.enabled=true',
  '--set=configMap.sections.web.replicas=2',
  '--set=configMap.switches.webEnabled=true',
];

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

interface DeploymentObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly env: readonly Variable[] }[] };
    };
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

describeCluster('the chart of the operator', (cluster) => {
  test.for(HELM_VERSIONS)(
    'helm %s renders everything it can hold, and finds nothing to complain about',
    async (version) => {
      if (lacksHelm(version)) return;
      const helm = helmOf(cluster(), version);
      await helm('lint', '--strict', CHART, ...EVERYTHING);
      const { stdout } = await helm('template', 'op', CHART, '--namespace', 'addons', ...EVERYTHING);
      const kinds = stdout.split(/^---$/m).flatMap((text) => /^kind: (.+)$/m.exec(text)?.[1] ?? []);
      const expected =
        'ClusterRole ClusterRoleBinding ConfigMap Deployment PodDisruptionBudget PrometheusRule Role RoleBinding';
      const rest = 'Service Service Service ServiceAccount ServiceMonitor';
      expect(kinds.toSorted().join(' ')).toBe(`${expected} ${rest}`);
    },
  );

  test.for(HELM_VERSIONS)(
    'helm %s upgrades the chart and leaves what hooks and people keep in the ConfigMap',
    async (version) => {
      if (lacksHelm(version)) return;
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const helm = helmOf(cluster(), version);
      const upgrade = async (...flags: readonly string[]): Promise<unknown> => {
        await helm('upgrade', '--install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...flags);
        return await world.get('configmaps', 'addon-operator');
      };
      await upgrade();
      await world.merge('configmaps', 'addon-operator', { data: { kept: 'by: hook\n' } });
      expect(await upgrade('--set=podLabels.a=b')).toMatchObject({ data: { kept: 'by: hook\n' } });
      const both = await upgrade('--set=configMap.sections.web.replicas=2');
      expect(both).toMatchObject({ data: { kept: 'by: hook\n', web: 'replicas: 2\n' } });
      const { data } = (await upgrade()) as { data: unknown };
      expect(data).toEqual({ kept: 'by: hook\n' });
    },
  );

  test('what is granted in other namespaces is told to be granted', async () => {
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const install = ['install', 'op', CHART, ...IMAGE, '--dry-run=client'];
    const rule = '[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]';
    const warning = 'It may not touch anything outside of its own ConfigMap';
    expect((await helm(...install)).stdout).toContain(warning);
    const granted = await helm(...install, '--set-json', `rbac.rulesByNamespace.other=${rule}`);
    expect(granted.stdout).not.toContain(warning);
  });

  test.for([
    [['--set', 'nope=1'], 'nope'],
    [[], 'image.repository'],
    [[...IMAGE, '--set', 'settings.LOG_LEVEL=debug'], 'settings.LOG_LEVEL'],
    [[...IMAGE, '--set', 'configMap.switches.web=true'], 'webEnabled'],
    [[...IMAGE, '--set', 'log.level=loud'], 'log'],
    [[...IMAGE, '--set', 'configMap.sections.webEnabled=true'], 'configMap.sections.webEnabled'],
  ] as const)('wrong values are refused with their name: %j', async ([flags, name]) => {
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    await expect(helm('template', 'op', CHART, ...flags)).rejects.toThrow(name);
  });

  test.for(HELM_VERSIONS)(
    'helm %s renders numbers of settings as the operator reads them',
    async (version) => {
      if (lacksHelm(version)) return;
      const settings = JSON.stringify({ ADDON_OPERATOR_HOOK_OUTPUT_LIMIT: 16_777_216, KUBE_CLIENT_QPS: 2.5 });
      const flags = ['--set-json', `settings=${settings}`, '--show-only', 'templates/deployment.yaml'];
      const { stdout } = await helmOf(cluster(), version)('template', 'op', CHART, ...IMAGE, ...flags);
      const { spec } = load(stdout) as DeploymentObject;
      const variables = spec.template.spec.containers[0]?.env ?? [];
      const sources = {
        env: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
        flags: {},
      };
      expect(readSetting('hookOutputLimitBytes', sources)).toBe(16_777_216);
      expect(readSetting('kubeClientQps', sources)).toBe(2.5);
    },
  );

  test.for(HELM_VERSIONS)(
    'helm %s renders alerts about metrics that exist, and none about a standby, whose loop does not run',
    async (version) => {
      if (lacksHelm(version)) return;
      const flags = ['--set=metrics.alerts.enabled=true', '--show-only', 'templates/monitoring.yaml'];
      const { stdout } = await helmOf(cluster(), version)('template', 'op', CHART, ...IMAGE, ...flags);
      const { spec } = load(stdout) as {
        spec: { groups: { rules: { alert: string; expr: string }[] }[] };
      };
      const rules = spec.groups.flatMap((group) => group.rules);
      const named = rules.flatMap(({ expr }) =>
        [...expr.matchAll(/addon_operator_(\w+)/g)].map(([, name]) => name),
      );
      const known = new Set(Object.values(METRICS).map(({ name }): string => name));
      expect(named.filter((name) => !known.has(name ?? ''))).toEqual([]);
      const hangs = rules.find(({ alert }) => alert === 'AddonOperatorHangs');
      expect(hangs?.expr).toMatch(/live_ticks.* and addon_operator_is_leader == 1$/);
    },
  );

  test('the version of the application is that of the package', async () => {
    const chart = load(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { appVersion: string };
    const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8');
    expect(chart.appVersion).toBe((JSON.parse(text) as { version: string }).version);
  });

  test('with the rules that rbac prints the operator does its work and may do no more, and without them it says what it may not do', async () => {
    const backend = await controlPlaneBackend(cluster());
    await using world = await World.create(backend, { modules: MODULE });
    await using other = await namespaceOf(world, 'other');
    await using foreign = await namespaceOf(world, 'foreign');
    const values = join(world.directory, 'rules.yaml');
    const printed = await runInWorld(world, 'rbac', '-o', 'values');
    expect(printed).toMatchObject({ exitCode: 0 });
    expect(printed.stderr).toContain('what hooks patch is not among the rules');
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
    {
      await using daemon = start();
      await daemon.untilConverged();
      // The chart brought the definition, and its role suffices for Module objects.
      const module = { path: '/apis/addon-operator.io/v1alpha1/modules/web' };
      await vi.waitFor(async () => {
        const { body } = await backend.request(module);
        expect(body).toMatchObject({ status: { phase: 'Succeeded' } });
      }, 20_000);
      await backend.request({ method: 'DELETE', ...module });
      const told = await backend.request({ path: '/api/v1/namespaces/default/events' });
      expect(JSON.stringify(told.body)).toContain('Revision 1 of release web is deployed');
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
        30_000,
      );
      expect(refusals(daemon)).toEqual([]);
      const seen = await runInWorld(world, 'rbac', '-o', 'json');
      expect(seen.stderr).toContain('only what they have patched since the daemon started');
      const { items } = JSON.parse(seen.stdout) as { items: { rules: unknown[] }[] };
      const [everywhere = [], own = []] = items.map(({ rules }) => rules);
      expect(own).toContainEqual({ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] });
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
    const on = ['--set=highAvailability.enabled=true', '--set=webhooks.enabled=true', '--values', values];
    await helm('install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...on);
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
    await vi.waitFor(async () => expect(await world.get('configmaps', record)).toBeUndefined(), 20_000);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toMatchObject({ code: 0 });
    expect((await leaseOf(world))['holderIdentity'] ?? '').toBe('');
  });
});

/** Records of what the API server did not allow. */
function refusals({ log }: DaemonProcess): readonly unknown[] {
  return log.records.filter((record) => /forbidden|\b403\b/.test(JSON.stringify(record)));
}

interface Asked {
  readonly verb: string;
  readonly resource: string;
  /** Empty for all. */
  readonly namespace: string;
  /** Empty for all. */
  readonly name: string;
}

/** Whether an account in the namespace of the world may do something, as the API server decides it. */
async function isAllowed(world: World, account: string, resourceAttributes: Asked): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: `system:serviceaccount:${world.namespace}:${account}`, resourceAttributes },
  };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const { status } = (await world.expect({ method: 'POST', path, body })) as { status: { allowed: boolean } };
  return status.allowed;
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

function helmOf(cluster: Cluster, version: (typeof HELM_VERSIONS)[number]) {
  return async (...args: readonly string[]) => {
    const home = await mkdtemp(join(tmpdir(), 'helm-home-'));
    const env = {
      KUBECONFIG: cluster.kubeconfigPath,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
    };
    return await execa(helmPath(cluster, version), args, { env, stdin: 'ignore' });
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
