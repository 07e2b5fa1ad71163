import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster, describeEachHelm, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { World } from '../support/world.ts';

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

interface PodSpec {
  readonly securityContext: object;
  readonly containers: readonly { readonly env?: readonly unknown[] }[];
}

interface RoleObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

interface ChartObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: PodSpec & { readonly template: Template; readonly selector: unknown };
}

const WEBHOOKS = '--set=highAvailability.enabled=true,webhooks.enabled=true,metrics.alerts.enabled=true';
const PAGE = {
  'ui.enabled': true,
  'ui.ingress': {
    enabled: true,
    host: 'ops.example.com',
    port: 4180,
    className: 'nginx',
    tlsSecretName: 'tls',
  },
  containers: [{ name: 'proxy', image: 'proxy:1' }],
};

describeCluster('options of the chart that concern all objects', (cluster) => {
  describeEachHelm((version) => {
    const rendered = async (...flags: readonly string[]): Promise<readonly ChartObject[]> => {
      const { stdout } = await helmOf(cluster(), version)('template', 'op', CHART, ...IMAGE, ...flags);
      return (loadAll(stdout) as (ChartObject | null)[]).filter((object) => object !== null);
    };

    test('fullnameOverride names objects, nameOverride labels and selects them', async () => {
      if (lacksHelm(version)) return;
      const objects = await rendered(WEBHOOKS, '--set=fullnameOverride=mine,nameOverride=addons');
      const names = new Set(objects.map(({ metadata }) => metadata.name));
      // The ConfigMap and the Services of webhooks have names of their own.
      expect([...names].filter((name) => !/(^|-)mine(-|$)/.test(name)).toSorted()).toEqual([
        'addon-operator',
        'shell-operator-conversion-svc',
        'shell-operator-validating-svc',
      ]);
      const selectors = objects.flatMap(({ kind, spec }) =>
        ['Deployment', 'Service', 'PodDisruptionBudget'].includes(kind)
          ? [JSON.stringify(spec.selector)]
          : [],
      );
      expect(selectors).toHaveLength(5);
      for (const selector of selectors) expect(selector).toContain('"app.kubernetes.io/name":"addons"');
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      expect(deployment?.spec.template.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'addons' });
    });

    test('commonLabels are on each object and on the pods of the operator', async () => {
      if (lacksHelm(version)) return;
      const installs = '--set=moduleInstalls.web.source=s,moduleInstalls.web.version.channel=stable';
      const objects = await rendered(WEBHOOKS, installs, '--set=commonLabels.team=platform');
      const without = objects.filter(({ metadata }) => metadata.labels?.['team'] !== 'platform');
      expect(without.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      expect(deployment?.spec.template.metadata.labels).toMatchObject({ team: 'platform' });
      expect(JSON.stringify(deployment?.spec.selector)).not.toContain('team');
    });

    test('podSecurityContext changes all pods, and null removes a field', async () => {
      if (lacksHelm(version)) return;
      const flags = ['--set=podSecurityContext.runAsUser=null', '--set=podSecurityContext.fsGroup=7'];
      const objects = await rendered(WEBHOOKS, ...flags, '--set=revisionHistoryLimit=0');
      const pods = objects.flatMap(({ kind, spec }) => {
        if (kind === 'Pod') return [spec];
        return kind === 'Deployment' || kind === 'Job' ? [spec.template.spec] : [];
      });
      expect(pods).toHaveLength(3);
      for (const { securityContext } of pods)
        expect(securityContext).toEqual({
          runAsNonRoot: true,
          runAsGroup: 65532,
          fsGroup: 7,
          seccompProfile: { type: 'RuntimeDefault' },
        });
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      expect(deployment?.spec).toMatchObject({ revisionHistoryLimit: 0 });
    });
  });

  test('extraObjects, and an Ingress to the proxy of the page, are accepted by the API server', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const metadata = { name: '{{ .Release.Name }}-map' };
    const extra = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { namespace: '{{ .Release.Namespace }}' } },
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ include "operator.name" . }}-text}\n',
    ];
    const values = { ...PAGE, extraObjects: extra, 'networkPolicy.enabled': true };
    const flags = Object.entries(values).map(([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`);
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const install = ['install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...flags];
    const { stdout } = await helm(...install);
    expect(stdout).toContain('https://ops.example.com/ui/');
    expect(await world.get('configmaps', 'op-map')).toMatchObject({ data: { namespace: world.namespace } });
    expect(await world.get('configmaps', 'op-text')).toBeDefined();
    const networking = `/apis/networking.k8s.io/v1/namespaces/${world.namespace}`;
    expect(await world.expect({ path: `${networking}/ingresses/op-ui` })).toMatchObject({
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['ops.example.com'], secretName: 'tls' }],
        rules: [
          {
            host: 'ops.example.com',
            http: { paths: [{ path: '/', backend: { service: { name: 'op-ui', port: { name: 'ui' } } } }] },
          },
        ],
      },
    });
    expect(await world.get('services', 'op-ui')).toMatchObject({
      spec: { ports: [{ name: 'ui', port: 80, targetPort: 4180 }] },
    });
    expect(await world.expect({ path: `${networking}/networkpolicies/op` })).toMatchObject({
      spec: { ingress: [{ ports: [{ port: 'http' }] }, { ports: [{ port: 4180 }] }] },
    });
    const deployment = (await world.expect({
      path: `/apis/apps/v1/namespaces/${world.namespace}/deployments/op`,
    })) as ChartObject;
    const { containers } = deployment.spec.template.spec;
    expect(containers.at(-1)?.env).toContainEqual({
      name: 'ADDON_OPERATOR_UI_ALLOWED_HOSTS',
      value: 'ops.example.com',
    });
  });

  test.each([
    ['token', [], 0],
    ['kubernetes', ['subjectaccessreviews', 'tokenreviews'], 2],
    ['proxy', ['subjectaccessreviews'], 2],
  ])(
    'with ui.auth %s the operator may create %j, and there are %i roles for people',
    async (auth, reviews, roles) => {
      const flags = ['--set', `ui.enabled=true,ui.auth=${auth}`];
      if (auth === 'proxy') flags.push('--set=ui.proxy.secretName=page');
      const { stdout } = await helmOf(cluster(), HELM_VERSIONS[0])(
        'template',
        'op',
        CHART,
        ...IMAGE,
        ...flags,
      );
      const objects = (loadAll(stdout) as (RoleObject | null)[]).filter((object) => object !== null);
      const isForPeople = ({ metadata: { name } }: RoleObject): boolean => name.startsWith('addon-operator-');
      const clusterRoles = objects.filter(({ kind }) => kind === 'ClusterRole');
      expect(clusterRoles.filter(isForPeople)).toHaveLength(roles);
      const own = clusterRoles.filter((role) => !isForPeople(role)).flatMap(({ rules }) => rules);
      const granted = own.flatMap(({ resources }) => resources).filter((name) => name.endsWith('reviews'));
      expect(granted.toSorted()).toEqual(reviews);
      // Nothing binds the roles for people.
      const bindings = JSON.stringify(objects.filter(({ kind }) => kind.endsWith('Binding')));
      expect(bindings).not.toMatch(/addon-operator-(?:viewer|operator)/);
      expect(stdout.includes('secretName: page')).toBe(auth === 'proxy');
    },
  );

  test('the notes lead to status and to the page', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const install = ['install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, '--dry-run=client'];
    const notes = async (...flags: readonly string[]) => (await helm(...install, ...flags)).stdout;
    const exec = `kubectl -n ${world.namespace} exec deploy/op -- addon-operator`;
    const off = await notes();
    expect(off).toContain(`${exec} status`);
    expect(off).toContain('set ui.enabled to true');
    const on = await notes('--set=ui.enabled=true');
    expect(on).toContain(`kubectl -n ${world.namespace} port-forward deploy/op 9652\n  ${exec} ui`);
  });

  test('values of an older chart are refused, since they lack what protects the pod', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const values = join(world.directory, 'values.yaml');
    await writeFile(values, 'podSecurityContext: null\n');
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    await expect(helm('template', 'op', CHART, ...IMAGE, '--values', values)).rejects.toThrow(
      'podSecurityContext',
    );
  });
});
