import { dirname } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { isAllowed } from '../support/control-plane/access-review.ts';
import { describeCluster, describeEachHelm, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { World } from '../support/world.ts';

interface ChartObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
}

interface PodSpec {
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly { readonly name: string }[];
}

const SOURCES = {
  platform: { url: 'oci://registry.example.com/platform', auth: { secretRef: { name: 'regcred' } } },
};
const INSTALLS = {
  db: { source: 'platform', version: { range: '~1.4' }, update: { mode: 'manual' } },
  web: { source: 'platform', version: { channel: 'stable' } },
};
const MODULES = [
  `--set-json=moduleSources=${JSON.stringify(SOURCES)}`,
  `--set-json=moduleInstalls=${JSON.stringify(INSTALLS)}`,
];
const SOON = { timeout: 60_000, interval: 100 };
const STORE = '/var/lib/addon-operator/modules';

describeCluster('modules from registries in the chart of the operator', (cluster) => {
  describeEachHelm((version) => {
    const rendered = async (...flags: readonly string[]): Promise<readonly ChartObject[]> => {
      const { stdout } = await helmOf(cluster(), version)('template', 'op', CHART, ...IMAGE, ...flags);
      return (loadAll(stdout) as (ChartObject | null)[]).filter((object) => object !== null);
    };

    test('sources and installs are objects that helm keeps, and the operator gets a store', async () => {
      if (lacksHelm(version)) return;
      const objects = await rendered(...MODULES);
      // helm sorts kinds that it does not know by name.
      expect(wantedIn(objects)).toEqual([
        ['ModuleInstall', 'db', INSTALLS.db],
        ['ModuleInstall', 'web', INSTALLS.web],
        ['ModuleSource', 'platform', SOURCES.platform],
      ]);
      for (const object of objects.filter(isWanted))
        expect(object).toMatchObject({
          metadata: {
            annotations: { 'helm.sh/resource-policy': 'keep' },
            labels: { 'app.kubernetes.io/instance': 'op' },
          },
        });
      expect(storeIn(objects)).toEqual({
        env: { ADDON_OPERATOR_MODULE_STORE: STORE },
        mounts: [{ name: 'modules', mountPath: STORE }],
        volumes: [{ name: 'modules', emptyDir: { sizeLimit: '2Gi' } }],
      });
    });

    test('without sources, installs and a store nothing of them is rendered', async () => {
      if (lacksHelm(version)) return;
      const objects = await rendered();
      expect(wantedIn(objects)).toEqual([]);
      expect(storeIn(objects)).toEqual({ env: {}, mounts: [], volumes: [] });
    });

    test('moduleSourcesFile gives the same documents as a file instead of objects', async () => {
      if (lacksHelm(version)) return;
      const objects = await rendered(...MODULES, '--set=moduleSourcesFile=true');
      expect(wantedIn(objects)).toEqual([]);
      const map = objects.find(({ metadata }) => metadata.name === 'op-modules');
      expect(wantedIn(loadAll(map?.data?.['sources.yaml'] ?? '') as readonly ChartObject[])).toEqual([
        ['ModuleSource', 'platform', SOURCES.platform],
        ['ModuleInstall', 'db', INSTALLS.db],
        ['ModuleInstall', 'web', INSTALLS.web],
      ]);
      expect(storeIn(objects)).toEqual({
        env: {
          ADDON_OPERATOR_MODULE_STORE: STORE,
          ADDON_OPERATOR_MODULE_SOURCES: '/etc/addon-operator/sources.yaml',
        },
        mounts: [
          { name: 'modules', mountPath: STORE },
          { name: 'module-sources', mountPath: '/etc/addon-operator', readOnly: true },
        ],
        volumes: [
          { name: 'modules', emptyDir: { sizeLimit: '2Gi' } },
          { name: 'module-sources', configMap: { name: 'op-modules' } },
        ],
      });
    });

    test('moduleStore names the volume: a claim of the chart, or one that exists', async () => {
      if (lacksHelm(version)) return;
      const made = await rendered('--set=moduleStore.storageClassName=fast,moduleStore.size=5Gi');
      // A class alone does not enable the store.
      expect(made.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
      const enabled = await rendered(
        '--set=moduleStore.enabled=true,moduleStore.storageClassName=fast,moduleStore.size=5Gi',
      );
      expect(enabled).toContainEqual(
        expect.objectContaining({
          kind: 'PersistentVolumeClaim',
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'fast',
            resources: { requests: { storage: '5Gi' } },
          },
        }),
      );
      expect(storeIn(enabled).volumes).toEqual([
        { name: 'modules', persistentVolumeClaim: { claimName: 'op-modules' } },
      ]);
      const existing = await rendered('--set=moduleStore.enabled=true,moduleStore.existingClaim=mine');
      expect(existing.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
      expect(storeIn(existing).volumes).toEqual([
        { name: 'modules', persistentVolumeClaim: { claimName: 'mine' } },
      ]);
    });

    test('an upgrade keeps the approval of a person, and the objects stay when the chart is uninstalled', async () => {
      if (lacksHelm(version)) return;
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const name = `web-${world.namespace}`;
      await using install = installObject(world, name);
      const helm = helmOf(cluster(), version);
      const upgrade = async (channel: string): Promise<void> => {
        const installs = { [name]: { source: 'platform', version: { channel } } };
        const flag = `--set-json=moduleInstalls=${JSON.stringify(installs)}`;
        await helm('upgrade', '--install', 'op', CHART, '--namespace', world.namespace, ...IMAGE, flag);
      };
      await upgrade('beta');
      const approved = `sha256:${'a'.repeat(64)}`;
      await install.apply('module-approve', { approved });
      await upgrade('stable');
      const spec = { approved, source: 'platform', version: { channel: 'stable' } };
      expect(await install.read()).toMatchObject({ status: 200, body: { spec } });
      await helm('uninstall', 'op', '--namespace', world.namespace);
      expect(await install.read()).toMatchObject({ status: 200, body: { spec } });
    });
  });

  test('the operator may read sources and installs, and write only their status', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    await helmOf(cluster(), HELM_VERSIONS[0])(
      'install',
      'op',
      CHART,
      '--namespace',
      world.namespace,
      ...IMAGE,
    );
    const verbsFor = async (resource: string, subresource = '') => {
      const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
      const attributes = { group: 'addon-operator.io', resource, subresource, namespace: '', name: '' };
      const allowed = await Promise.all(
        verbs.map(async (verb) => ((await isAllowed(world, 'op', { ...attributes, verb })) ? [verb] : [])),
      );
      return allowed.flat().join(' ');
    };
    await expect.poll(async () => await verbsFor('modules'), SOON).not.toBe('');
    for (const resource of ['modulesources', 'moduleinstalls']) {
      expect(await verbsFor(resource)).toBe('get list watch');
      expect(await verbsFor(resource, 'status')).toBe('patch');
    }
  });

  test('an upgrade that brings installs before the cluster serves them is refused with the way out', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    await helm('install', 'op', CHART, '--namespace', world.namespace, ...IMAGE);
    const definition =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/moduleinstalls.addon-operator.io';
    await using _ = await removedDefinition(world, definition);
    const installs = '/apis/addon-operator.io/v1alpha1/moduleinstalls';
    await expect.poll(async () => (await world.backend.request({ path: installs })).status, SOON).toBe(404);
    const upgrade = ['upgrade', 'op', CHART, '--namespace', world.namespace, ...IMAGE, ...MODULES];
    await expect(helm(...upgrade)).rejects.toThrow(
      /does not serve ModuleInstall yet.*Upgrade without these/s,
    );
    await helm(...upgrade, '--set=moduleSourcesFile=true');
  });
});

/** Deletes a CRD until the test ends. */
async function removedDefinition({ backend }: World, path: string): Promise<AsyncDisposable> {
  const { status, body } = await backend.request({ path });
  await backend.request({ method: 'DELETE', path });
  return {
    [Symbol.asyncDispose]: async (): Promise<void> => {
      if (status !== 200) return;
      const { apiVersion, kind, metadata, spec } = body as Record<string, { readonly name: string }>;
      const again = { apiVersion, kind, metadata: { name: metadata?.name }, spec };
      await backend.request({ method: 'POST', path: dirname(path), body: again });
    },
  };
}

/** A ModuleInstall of the cluster, which is deleted when the test ends. */
function installObject(world: World, name: string) {
  const path = `/apis/addon-operator.io/v1alpha1/moduleinstalls/${name}`;
  return {
    read: async () => await world.backend.request({ path }),
    apply: async (manager: string, spec: object) =>
      await world.expect({
        method: 'PATCH',
        path: `${path}?fieldManager=${manager}`,
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'addon-operator.io/v1alpha1', kind: 'ModuleInstall', metadata: { name }, spec },
      }),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await world.backend.request({ method: 'DELETE', path });
    },
  };
}

function isWanted({ kind }: ChartObject): boolean {
  return kind === 'ModuleSource' || kind === 'ModuleInstall';
}

function wantedIn(objects: readonly ChartObject[]): readonly unknown[] {
  return objects.filter(isWanted).map(({ kind, metadata, spec }) => [kind, metadata.name, spec]);
}

/** What the pod of the operator has of the store and of the file with sources. */
function storeIn(objects: readonly ChartObject[]) {
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) throw new Error('the chart has no Deployment');
  const { spec } = (deployment.spec as { readonly template: { readonly spec: PodSpec } }).template;
  const [container] = spec.containers;
  const isOfModules = ({ name }: { readonly name: string }): boolean => name.startsWith('module');
  const env = container?.env.filter(({ name }) => name.startsWith('ADDON_OPERATOR_MODULE_')) ?? [];
  return {
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    mounts: container?.volumeMounts.filter(isOfModules),
    volumes: spec.volumes.filter(isOfModules),
  };
}
