import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../checks/checkout.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { type GitObject, yamlSamples } from '../support/gitops/page-samples.ts';
import { defineKinds, definitionsIn, dryRun } from '../support/gitops/server-side-apply.ts';
import { World } from '../support/world.ts';

const PAGE = readFileSync(join(projectRoot, 'docs/delivery.md'), 'utf8');

describeCluster('the page about delivery', (cluster) => {
  beforeAll(async () => {
    await defineKinds(new ApiProbe(cluster().access), await definitionsIn(join(CHART, 'crds')));
  });

  test('has values for the chart whose objects the API server accepts', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const values = join(world.directory, 'values.yaml');
    await writeFile(values, yamlSamples('docs/delivery.md').get('delivery-values') ?? '');
    const shown = ['--show-only', 'templates/modules.yaml'];
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const { stdout } = await helm('template', 'op', CHART, ...IMAGE, '--values', values, ...shown);
    expect(await refusals(world, stdout)).toEqual([]);
  });

  test('has documents for the start in five minutes that the API server accepts as well', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const documents = /^cat > demo\/sources\.yaml <<'END'\n([^]*?)^END$/m.exec(PAGE)?.[1];
    expect(await refusals(world, documents ?? '')).toEqual([]);
  });

  test.each([
    ['ModuleSource', 'modulesources'],
    ['ModuleInstall', 'moduleinstalls'],
  ])('has a row for each field of %s', async (kind, plural) => {
    const definition = (await new ApiProbe(cluster().access).expect({
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.addon-operator.io`,
    })) as CustomResourceDefinition;
    const { spec, status } = definition.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {};
    const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${kind}\n`)) ?? '';
    const cells = [...section.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
    const named = new Set(cells.flatMap((cell) => /^`([a-z]+)/i.exec(cell)?.[1] ?? []));
    const fields = [...Object.keys(spec?.properties ?? {}), ...Object.keys(status?.properties ?? {})];
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter((field) => field !== 'observedGeneration' && !named.has(field))).toEqual([]);
  });
});

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: Record<string, ObjectSchema> } };
    }[];
  };
}

/** What the API server does not accept of a source and an install. */
async function refusals(world: World, text: string): Promise<readonly unknown[]> {
  const objects = (loadAll(text) as (GitObject | null)[]).filter((object) => object !== null);
  expect(objects.map(({ kind }) => kind).toSorted()).toEqual(['ModuleInstall', 'ModuleSource']);
  const results = await Promise.all(objects.map(async (object) => await dryRun(world, object)));
  return results.filter((result) => (result as GitObject).kind === 'Status');
}
