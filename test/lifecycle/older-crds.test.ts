import { expect, test } from 'vitest';
import { DeliveryWorld } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { versionTree } from '../support/store/store-world.ts';
import { World } from '../support/world.ts';
import { type FileTree, under } from '../support/world-files.ts';

const { signal } = new AbortController();
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** @param versions the fields of each; objects are stored in the last one */
function crdFile(name: string, versions: Readonly<Record<string, readonly string[]>>): FileTree {
  const names = Object.keys(versions);
  const entries = Object.entries(versions).map(([version, fields]) => ({
    name: version,
    served: true,
    storage: version === names.at(-1),
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: Object.fromEntries(fields.map((field) => [field, { type: 'integer' }])),
      },
    },
  }));
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${name}.example.com` },
    spec: {
      group: `${name}.example.com`,
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: entries,
    },
  };
  return { 'crds/gadgets.yaml': JSON.stringify(crd) };
}

async function specOf(world: World, name: string): Promise<unknown> {
  const object = await world.expect({ path: `${CRDS}/gadgets.${name}.example.com` });
  return (object as { readonly spec: unknown }).spec;
}

/** Removes the CRD of a test at its end: it is not in a namespace. */
function removal(world: World, name: string): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      await world.backend.request({ method: 'DELETE', path: `${CRDS}/gadgets.${name}.example.com` });
    },
  };
}

describeRegistries('CRDs of versions from a registry', () => {
  describeLifecycle((backend) => {
    test('a rollback keeps the CRD of the newer version, also over a restart, and says so', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      await using _removal = removal(world, name);
      const url = registry.url('platform');
      await lab.push(url, name, '1.0.0', { files: crdFile(name, { v1: ['size'] }) });
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });

      await lab.push(url, name, '1.1.0', { files: crdFile(name, { v1: ['size'], v2: ['size', 'color'] }) });
      lab.passInterval();
      await lab.untilRuns(name, '1.1.0');
      await lab.untilObserved(name, { lastGood: { version: '1.1.0' } });
      const spec = await specOf(world, name);
      expect(spec).toMatchObject({ versions: [{ name: 'v1' }, { name: 'v2' }] });

      const { stdout } = await lab.succeed('module', 'rollback', name, '--to', '1.0.0');
      expect(stdout).toContain(
        `CRD gadgets.${name}.example.com: it stays as version 1.1.0 of the module has applied it: that of 1.0.0 lacks version v2`,
      );
      await lab.untilRuns(name, '1.0.0');
      expect(await specOf(world, name)).toEqual(spec);
      await world.stop();
      await world.converge();
      await lab.untilRuns(name, '1.0.0');
      expect(await specOf(world, name)).toEqual(spec);
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ level: 'warn', module: name, msg: 'CRD does not go back' }),
      );
    });

    test('a version whose CRD lacks the version of stored objects is refused before it runs', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      await using _removal = removal(world, name);
      const url = registry.url('platform');
      await lab.push(url, name, '1.0.0', { files: crdFile(name, { v1: ['size'] }) });
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await lab.push(url, name, '1.1.0', { files: crdFile(name, { v2: ['size'] }) });
      lab.passInterval();
      await lab.untilStatus('ModuleInstall', name, {
        pending: {
          version: '1.1.0',
          reason: 'WouldFail',
          message: expect.stringContaining(
            `CRD gadgets.${name}.example.com: version v1 is missing in the file, but the cluster stores objects in it: keep it in the file`,
          ),
        },
      });
      await lab.untilRuns(name, '1.0.0');
    });
  });
});

describeLifecycle((backend) => {
  test('older files of a plain directory do not take anything from the CRD of the newer ones', async () => {
    const name = uniqueName();
    await using world = await World.create(backend(), { modules: {}, config: {} });
    await using _removal = removal(world, name);
    const put = async (version: string, crd: FileTree): Promise<void> => {
      await world.write('modules', under(`001-${name}`, { ...versionTree(name, version), ...crd }));
    };
    await put('1.1.0', crdFile(name, { v1: ['size', 'color'] }));
    await world.converge();
    const spec = await specOf(world, name);
    await world.stop();
    await put('1.0.0', crdFile(name, { v1: ['size'] }));
    await world.converge();
    expect(await specOf(world, name)).toEqual(spec);
    expect(world.log.records).toContainEqual(
      expect.objectContaining({
        msg: 'CRD does not go back',
        reason: expect.stringContaining('that of 1.0.0 lacks field v1.color'),
      }),
    );
    // A newer version takes away what its author wants.
    await world.stop();
    await put('1.2.0', crdFile(name, { v1: ['size'] }));
    await world.converge();
    expect(await specOf(world, name)).not.toEqual(spec);
  });
});
