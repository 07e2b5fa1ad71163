import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A group that no other world on the same API server uses. */
function groupOf(world: World): string {
  return `${world.namespace}.example.com`;
}

function crdYaml(world: World, plural: string, extra: { readonly versions?: string } = {}): string {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  return `# a CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.${groupOf(world)}
  labels: {from: file}
spec:
  group: ${groupOf(world)}
  scope: Namespaced
  names: {plural: ${plural}, kind: ${kind}}
  versions: ${extra.versions ?? `[${versionYaml('v1')}]`}
`;
}

function versionYaml(name: string, isStored = true, field = 'size'): string {
  const schema = `{type: object, x-doc-hint: dropped, properties: {spec: {type: object, properties: {${field}: {type: integer}}}}}`;
  return `{name: ${name}, served: true, storage: ${isStored}, schema: {openAPIV3Schema: ${schema}}}`;
}

function objectYaml(world: World): string {
  return `apiVersion: ${groupOf(world)}/v1
kind: Gadget
metadata: {name: first}
spec: {size: 1}
`;
}

async function crd(world: World, plural: string): Promise<Record<string, unknown> | undefined> {
  const { status, body } = await world.backend.request({ path: `${CRDS}/${plural}.${groupOf(world)}` });
  return status === 404 ? undefined : (body as Record<string, unknown>);
}

async function webWorld(backend: Backend, config = { webEnabled: 'true' }): Promise<World> {
  return World.create(backend, { modules: under('001-web', configMapChart('web', 'web')), config });
}

/** CRDs are not of a namespace: they would stay on the API server that tests share. */
async function removeCrds(world: World, ...plurals: readonly string[]): Promise<void> {
  for (const plural of plurals)
    await world.backend.request({ method: 'DELETE', path: `${CRDS}/${plural}.${groupOf(world)}` });
}

function messages(world: World): unknown[] {
  return world.log.records.map((record) => record['msg']);
}

describeLifecycle((backend) => {
  test('objects and CRDs of modules have the extra labels, and heritage unless it is one of them', async () => {
    await using world = await World.create(backend(), {
      modules: under('001-web', configMapChart('web', 'web')),
      config: { webEnabled: 'true' },
      env: () => ({ ADDON_OPERATOR_CRD_EXTRA_LABELS: 'team=a' }),
    });
    await world.write('modules', { '001-web/crds/gadgets.yaml': crdYaml(world, 'gadgets') });
    await world.converge();
    const labels = { team: 'a', heritage: 'addon-operator' };
    expect(await crd(world, 'gadgets')).toMatchObject({ metadata: { labels } });
    expect(await world.get('configmaps', 'web')).toMatchObject({ metadata: { labels } });
    await removeCrds(world, 'gadgets');
  });

  test('CRDs of a module exist before helm applies the first object of their kind', async () => {
    await using world = await webWorld(backend());
    await world.write('modules', {
      '001-web/crds/deep/gadgets.yaml': `---\n${crdYaml(world, 'gadgets')}---\n# nothing\n---\n${crdYaml(world, 'widgets')}`,
      '001-web/crds/doc-gadgets.yaml': 'no: crd\n',
      '001-web/crds/_draft.yaml': 'no: crd\n',
      '001-web/templates/gadget.yaml': objectYaml(world),
    });
    await world.converge();
    expect(await crd(world, 'gadgets')).toMatchObject({
      metadata: { labels: { from: 'file', heritage: 'addon-operator' } },
    });
    expect(await crd(world, 'widgets')).toBeDefined();
    const path = `/apis/${groupOf(world)}/v1/namespaces/${world.namespace}/gadgets/first`;
    expect(await world.expect({ path })).toMatchObject({ spec: { size: 1 } });
    expect(messages(world).filter((message) => message === 'CRD created')).toHaveLength(2);
    expect((await world.helmCalls()).filter((call) => call.startsWith('upgrade'))).toHaveLength(1);
    await removeCrds(world, 'gadgets', 'widgets');
  });

  test('a changed CRD is updated when its module starts; its conversion and labels of others stay', async () => {
    await using world = await webWorld(backend());
    await world.write('modules', { '001-web/crds/gadgets.yaml': crdYaml(world, 'gadgets') });
    await world.converge();
    const service = { namespace: world.namespace, name: 'convert', port: 443, path: '/convert' };
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } },
    };
    await world.expect({
      method: 'PATCH',
      path: `${CRDS}/gadgets.${groupOf(world)}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { theirs: 'yes' } }, spec: { conversion } },
    });
    await world.stop();
    const before = await crd(world, 'gadgets');
    await world.converge();
    expect(await crd(world, 'gadgets')).toEqual(before);
    expect(messages(world)).not.toContain('CRD updated');
    await world.stop();
    await world.write('modules', {
      '001-web/crds/gadgets.yaml': crdYaml(world, 'gadgets', {
        versions: `[${versionYaml('v1', false)}, ${versionYaml('v2', true, 'height')}]`,
      }),
    });
    await world.converge();
    const after = await crd(world, 'gadgets');
    expect(after).toMatchObject({
      metadata: { labels: { theirs: 'yes', from: 'file', heritage: 'addon-operator' } },
      spec: { conversion, versions: [{ name: 'v1' }, { name: 'v2' }] },
    });
    expect(messages(world)).toContain('CRD updated');
    await world.putConfig({ webEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await crd(world, 'gadgets')).toBeDefined();
    await removeCrds(world, 'gadgets');
  });

  test('a deleted CRD is restored by the retry of a run that fails without it', async () => {
    await using world = await webWorld(backend());
    await world.write('modules', {
      '001-web/crds/gadgets.yaml': crdYaml(world, 'gadgets'),
      '001-web/templates/gadget.yaml': objectYaml(world),
    });
    await world.converge();
    await removeCrds(world, 'gadgets');
    await expect.poll(() => crd(world, 'gadgets'), { timeout: 60_000 }).toBeUndefined();
    await world.putConfig({ webEnabled: 'true', web: 'changed: true' });
    await world.untilDelayed();
    await world.passDelay();
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    const path = `/apis/${groupOf(world)}/v1/namespaces/${world.namespace}/gadgets/first`;
    expect(await world.expect({ path })).toMatchObject({ spec: { size: 1 } });
    await removeCrds(world, 'gadgets');
  });

  test('a document in crds/ that is not a CRD is named and retried, and the others are applied', async () => {
    await using world = await webWorld(backend());
    await world.write('modules', {
      '001-web/crds/a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n',
      '001-web/crds/b.yaml': crdYaml(world, 'gadgets'),
    });
    await world.start();
    await world.untilDelayed();
    expect(world.log.dump()).toContain("a.yaml:1: invalid CRD document apiversion/kind: 'v1/Pod'");
    expect(await crd(world, 'gadgets')).toBeDefined();
    expect((await world.helmCalls()).filter((call) => call.startsWith('upgrade'))).toEqual([]);
    await world.write('modules', { '001-web/crds/a.yaml': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await world.get('configmaps', 'web')).toBeDefined();
    await removeCrds(world, 'gadgets');
  });

  test('a version that is missing in the file is first removed from the stored versions', async () => {
    await using world = await webWorld(backend());
    const file = '001-web/crds/gadgets.yaml';
    await world.write('modules', {
      [file]: crdYaml(world, 'gadgets', {
        versions: `[${versionYaml('v1')}, ${versionYaml('v2', false)}]`,
      }),
    });
    await world.converge();
    await world.stop();
    await world.write('modules', {
      [file]: crdYaml(world, 'gadgets', { versions: `[${versionYaml('v2')}]` }),
    });
    await world.start();
    await world.untilDelayed();
    expect(world.log.dump()).toContain(
      'version v1 is missing in the file, but the cluster stores objects in it: keep it in the file with served: false',
    );
    await world.stop();
    await world.write('modules', {
      [file]: crdYaml(world, 'gadgets', {
        versions: `[${versionYaml('v1', false)}, ${versionYaml('v2')}]`,
      }),
    });
    await world.converge();
    await world.stop();
    expect(await crd(world, 'gadgets')).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } });
    await world.write('modules', {
      [file]: crdYaml(world, 'gadgets', { versions: `[${versionYaml('v2')}]` }),
    });
    await world.converge();
    expect(await crd(world, 'gadgets')).toMatchObject({
      spec: { versions: [{ name: 'v2' }] },
      status: { storedVersions: ['v2'] },
    });
    await removeCrds(world, 'gadgets');
  });
});
