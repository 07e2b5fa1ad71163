import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { readSetting } from '../../src/settings/read-settings.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster, describeEachHelm, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { CHART, type DeploymentObject, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { World } from '../support/world.ts';

const EVERYTHING = [
  ...IMAGE,
  '--set=highAvailability.enabled=true',
  '--set=webhooks.enabled=true',
  '--set=ui.enabled=true',
  '--set=metrics.serviceMonitor.enabled=true',
  '--set=metrics.podMonitor.enabled=true',
  '--set=metrics.alerts.enabled=true',
  '--set=metrics.dashboards.enabled=true',
  '--set=configMap.sections.web.replicas=2',
  '--set=configMap.switches.webEnabled=true',
  '--set=moduleSources.platform.url=oci://registry.example.com/platform',
  '--set=moduleInstalls.web.source=platform,moduleInstalls.web.version.channel=stable',
];

interface ClusterRoleBindings {
  readonly items: readonly {
    readonly roleRef: { readonly name: string };
    readonly subjects?: readonly { readonly namespace?: string }[];
  }[];
}

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

describeCluster('the values of the chart of the operator', (cluster) => {
  describeEachHelm((version) => {
    test('renders everything it can hold, and finds nothing to complain about', async () => {
      if (lacksHelm(version)) return;
      const helm = helmOf(cluster(), version);
      await helm('lint', '--strict', CHART, ...EVERYTHING);
      const { stdout } = await helm('template', 'op', CHART, '--namespace', 'addons', ...EVERYTHING);
      const kinds = stdout.split(/^---$/m).flatMap((text) => /^kind: (.+)$/m.exec(text)?.[1] ?? []);
      const expected =
        'ClusterRole ClusterRoleBinding ConfigMap ConfigMap Deployment Job ModuleInstall ModuleSource Pod PodDisruptionBudget PodMonitor PrometheusRule Role Role RoleBinding RoleBinding';
      const rest = 'Service Service Service ServiceAccount ServiceMonitor';
      expect(kinds.toSorted().join(' ')).toBe(`${expected} ${rest}`);
    });
  });

  describeEachHelm((version) => {
    test('upgrades the chart and leaves what hooks and people keep in the ConfigMap', async () => {
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
    });
  });

  describeEachHelm((version) => {
    test('switches high availability, wide permissions and webhooks on and off', async () => {
      if (lacksHelm(version)) return;
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const helm = helmOf(cluster(), version);
      const upgrade = async (...flags: readonly string[]): Promise<void> => {
        await helm('upgrade', '--install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...flags);
      };
      const deployment = { path: `/apis/apps/v1/namespaces/${world.namespace}/deployments/op` };
      const bindings = { path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings' };
      const rolesOfAccount = async (): Promise<unknown> => {
        const { items } = (await world.expect(bindings)) as ClusterRoleBindings;
        const own = items.filter(({ subjects }) =>
          subjects?.some(({ namespace }) => namespace === world.namespace),
        );
        return own.map(({ roleRef }) => roleRef.name);
      };
      await upgrade('--set=rbac.clusterAdmin=true');
      expect(await rolesOfAccount()).toEqual(['cluster-admin']);
      await upgrade('--set=highAvailability.enabled=true', '--set=webhooks.enabled=true');
      expect(await rolesOfAccount()).toEqual([`${world.namespace}-op`]);
      expect(await world.expect(deployment)).toMatchObject({ spec: { strategy: { type: 'RollingUpdate' } } });
      await upgrade('--set=rbac.clusterAdmin=true');
      expect(await world.expect(deployment)).toMatchObject({
        spec: { replicas: 1, strategy: { type: 'Recreate' } },
      });
    });
  });

  describeEachHelm((version) => {
    test('gives hooks an allow-list of variables, which an empty list switches off', async () => {
      if (lacksHelm(version)) return;
      const helm = helmOf(cluster(), version);
      const sourcesWith = async (...flags: readonly string[]) => {
        const args = [
          'template',
          'op',
          CHART,
          ...IMAGE,
          ...flags,
          '--show-only',
          'templates/deployment.yaml',
        ];
        const { spec } = load((await helm(...args)).stdout) as DeploymentObject;
        const variables = spec.template.spec.containers[0]?.env ?? [];
        return { env: Object.fromEntries(variables.map(({ name, value }) => [name, value])), flags: {} };
      };
      const given = await sourcesWith();
      expect(readSetting('hookEnv', given)).toBe('allow-list');
      expect(readSetting('hookEnvAllowed', given)).toEqual(expect.arrayContaining(['PATH', 'FRAMEWORK_DIR']));
      expect(readSetting('hookEnv', await sourcesWith('--set-json', 'hooks.envAllow=[]'))).toBe('all');
    });
  });

  test('containers of the user run beside the operator and before it', async () => {
    const side = { name: 'side', image: 'side:1' };
    const before = { name: 'before', image: 'before:1' };
    const flags = [
      `--set-json=containers=${JSON.stringify([side])}`,
      `--set-json=initContainers=${JSON.stringify([before])}`,
    ];
    const args = ['template', 'op', CHART, ...IMAGE, ...flags, '--show-only', 'templates/deployment.yaml'];
    const { stdout } = await helmOf(cluster(), HELM_VERSIONS[0])(...args);
    expect(load(stdout)).toMatchObject({
      spec: {
        template: {
          spec: {
            initContainers: [before],
            containers: [side, { name: 'addon-operator', startupProbe: { httpGet: { path: '/healthz' } } }],
          },
        },
      },
    });
  });

  test('an image is named by its digest, when there is one', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const flags = ['--set', `image.digest=${digest}`, '--show-only', 'templates/deployment.yaml'];
    const { stdout } = await helmOf(cluster(), HELM_VERSIONS[0])('template', 'op', CHART, ...IMAGE, ...flags);
    expect(stdout).toMatch(new RegExp(`image: "[^"@]+@${digest}"`));
  });

  test('rights to leases and webhook configurations are for objects of these names only', async () => {
    const flags = [
      '--set=webhooks.enabled=true',
      '--set=settings.VALIDATING_WEBHOOK_CONFIGURATION_NAME=mine',
    ];
    const { stdout } = await helmOf(cluster(), HELM_VERSIONS[0])('template', 'op', CHART, ...IMAGE, ...flags);
    const objects = loadAll(stdout) as ({ readonly rules?: readonly Rule[] } | null)[];
    const rules = objects.flatMap((object) => object?.rules ?? []);
    const namesOf = (resource: string): unknown =>
      rules
        .filter(({ resources }) => resources.includes(resource))
        .map(({ verbs, resourceNames = [] }) => [verbs.join(), ...resourceNames]);
    expect(namesOf('leases')).toEqual([
      ['create'],
      ['get,watch,update,patch', 'addon-operator-leader-election', 'addon-operator-presence'],
    ]);
    expect(namesOf('validatingwebhookconfigurations')).toEqual([
      ['create'],
      ['get,update,patch,delete', 'mine-hooks'],
    ]);
  });

  describeEachHelm((version) => {
    test('installs a NetworkPolicy that the API server accepts, when it is enabled', async () => {
      if (lacksHelm(version)) return;
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const helm = helmOf(cluster(), version);
      const values = {
        enabled: true,
        metricsFrom: [{ namespaceSelector: { matchLabels: { team: 'metrics' } } }],
        egress: [{ ports: [{ port: 443 }] }],
      };
      const flags = ['--set-json', `networkPolicy=${JSON.stringify(values)}`, '--set=webhooks.enabled=true'];
      await helm('install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...flags);
      const path = `/apis/networking.k8s.io/v1/namespaces/${world.namespace}/networkpolicies/op`;
      expect(await world.expect({ path })).toMatchObject({
        spec: {
          policyTypes: ['Ingress', 'Egress'],
          ingress: [
            { ports: [{ port: 'http' }], from: values.metricsFrom },
            { ports: [{ port: 'admission' }, { port: 'conversion' }] },
          ],
          egress: [{ ports: [{ port: 443 }] }],
        },
      });
    });
  });

  test('permissions in other namespaces are listed in the notes', async () => {
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const install = ['install', 'op', CHART, ...IMAGE, '--dry-run=client'];
    const rule = '[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]';
    const warning = 'It has permissions only for its own ConfigMap and releases';
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

  describeEachHelm((version) => {
    test('renders numbers of settings as the operator reads them', async () => {
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
    });
  });

  test('the version of the application is that of the package', async () => {
    const chart = load(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { appVersion: string };
    const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8');
    expect(chart.appVersion).toBe((JSON.parse(text) as { version: string }).version);
  });
});
