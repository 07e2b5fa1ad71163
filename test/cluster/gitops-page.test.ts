import { join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { GITOPS_DEFINITIONS } from '../support/gitops/definitions.ts';
import { type GitObject, objectSamples, pathOf } from '../support/gitops/page-samples.ts';
import { apply, defineKinds, definitionsIn, dryRun } from '../support/gitops/server-side-apply.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const samples = objectSamples('docs/gitops.md');

/** Directory with the definitions of Flux and Argo CD themselves, to check the page against them instead of ours. */
const PUBLISHED = process.env['GITOPS_CRDS'];

describeCluster('the page about GitOps', (cluster) => {
  beforeAll(async () => {
    const probe = new ApiProbe(cluster().access);
    const external = PUBLISHED === undefined ? GITOPS_DEFINITIONS : await definitionsIn(PUBLISHED);
    await defineKinds(probe, [...(await definitionsIn(join(CHART, 'crds'))), ...external]);
  });

  describe('its samples', () => {
    // A part of an object that exists, which the last test applies.
    const whole = [...samples].filter(([name]) => name !== 'gitops-approval');
    const rows = whole.flatMap(([name, objects]) => objects.map((object) => ({ name, object })));

    test('are there', () => {
      expect(rows.length).toBeGreaterThan(15);
    });

    test.each(rows)(
      '$name: the API server accepts $object.kind $object.metadata.name',
      async ({ object }) => {
        await using world = await World.create(await controlPlaneBackend(cluster()), {});
        expect(await dryRun(world, object)).toMatchObject({ kind: object.kind });
      },
    );

    test('with a field that does not exist are refused', async () => {
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const [object] = samples.get('flux-image') ?? [];
      const misspelt = { ...object, spec: { ...object?.spec, intervall: '1m' } } as GitObject;
      expect(await dryRun(world, misspelt)).toMatchObject({
        message: expect.stringContaining('intervall') as unknown,
      });
    });
  });

  test.each([
    ['flux-operator', 'HelmRelease', (spec: Values) => spec['values']],
    ['argo-operator', 'Application', (spec: Values) => valueAt(spec, 'source', 'helm', 'valuesObject')],
  ] as const)('the values in %s are those of the chart', async (name, kind, valuesOf) => {
    const object = samples.get(name)?.find((candidate) => candidate.kind === kind);
    const values = Object.entries(valuesOf(object?.spec ?? {}) as Values).map(
      ([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`,
    );
    const shown = ['--show-only', 'templates/deployment.yaml'];
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const { stdout } = await helm('template', 'operator', CHART, ...values, ...shown);
    expect(stdout).toContain('ADDON_OPERATOR_MODULE_STORE');
    expect(load(stdout)).toMatchObject({
      spec: {
        template: { spec: { containers: [{ image: 'registry.example.com/platform/my-operator:1.4.2' }] } },
      },
    });
  });

  test('the tool keeps keys of hooks that git does not have, and resets those that it has', async () => {
    const save = (module: string): string =>
      shHook(
        'onStartup: 1',
        `echo '{"op":"add","path":"/${module}/token","value":"x"}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
      );
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules: {
        '001-web/values.yaml': 'webEnabled: false\n',
        '001-web/hooks/save.sh': save('web'),
        '002-db/values.yaml': 'dbEnabled: true\n',
        '002-db/hooks/save.sh': save('db'),
      },
    });
    const [git] = samples.get('gitops-values') ?? [];
    if (git === undefined) throw new Error('there is no sample gitops-values');
    await apply(world, git, 'kustomize-controller');
    await world.converge();
    const written = (await world.get('configmaps', 'addon-operator')) as unknown as Managed;
    expect(written.data).toEqual({ webEnabled: 'true', web: 'replicas: 3\ntoken: x\n', db: 'token: x\n' });
    expect(managersOf(written, 'f:db')).toEqual(['addon-operator']);
    expect(managersOf(written, 'f:web')).toEqual(['addon-operator']);
    expect(managersOf(written, 'f:webEnabled')).toEqual(['kustomize-controller']);

    await apply(world, git, 'kustomize-controller');
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
      data: { webEnabled: 'true', web: 'replicas: 3\n', db: 'token: x\n' },
    });
  });

  test('git keeps a hold of a person with a manager of their own, and the person ends it', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const named = (object: GitObject | undefined): GitObject => {
      if (object === undefined) throw new Error('there is no such sample');
      return { ...object, metadata: { name: `web-${world.namespace}` } };
    };
    const git = named(samples.get('flux-modules')?.find(({ kind }) => kind === 'ModuleInstall'));
    const hold = named(samples.get('gitops-approval')?.[0]);
    expect(await apply(world, git, 'kustomize-controller')).toBe(201);
    try {
      await apply(world, hold, 'on-call');
      const newer = { ...git, spec: { ...git.spec, version: { exact: '1.5.0' } } };
      await apply(world, newer, 'kustomize-controller');
      expect(await world.expect({ path: pathOf(git) })).toMatchObject({
        spec: { ...newer.spec, ...hold.spec },
      });
      await apply(world, { ...hold, spec: {} }, 'on-call');
      expect((await world.expect({ path: pathOf(git) })) as GitObject).toMatchObject({ spec: newer.spec });
      expect(((await world.expect({ path: pathOf(git) })) as GitObject).spec).not.toHaveProperty('hold');
    } finally {
      await world.backend.request({ method: 'DELETE', path: pathOf(git) });
    }
  });
});

type Values = Readonly<Record<string, unknown>>;

interface Managed {
  readonly data: Readonly<Record<string, string>>;
  readonly metadata: {
    readonly managedFields: readonly {
      readonly manager: string;
      readonly fieldsV1: { readonly 'f:data'?: object };
    }[];
  };
}

function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Values)[key], value);
}

/** Who owns a key of the data. */
function managersOf({ metadata }: Managed, key: string): readonly string[] {
  const owners = metadata.managedFields.filter(({ fieldsV1 }) => key in (fieldsV1['f:data'] ?? {}));
  return owners.map(({ manager }) => manager);
}
