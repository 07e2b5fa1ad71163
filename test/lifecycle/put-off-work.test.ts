import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { modulePath, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { Backend, World } from '../support/world.ts';
import { configMapChart, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const OPERATION = 'addon-operator.io/operation';
const TEN_MINUTES_MS = 600_000;

/** Puts off at a place while the file `closed` is there. */
function gateAt(place: string): string {
  return `import { existsSync } from 'node:fs';
import { defineFlowHooks } from 'addon-operator/sdk';
const putOff = { abortReconcile: true, requeueAfterMs: ${TEN_MINUTES_MS} };
const isClosed = () => existsSync(process.env.WORLD + '/closed');
export default defineFlowHooks((hooks) => {
  hooks.registerHook(() => (isClosed() ? putOff : undefined), '${place}');
});
`;
}

async function gatedWorld(backend: Backend, place: string) {
  const name = uniqueName();
  const modules = {
    'values.yaml': `${name}Enabled: true\n`,
    ...under(`001-${name}`, configMapChart(name, name)),
  };
  const made = await moduleWorld(backend, { modules, config: {} }, [name]);
  await writeTree(join(made.world.directory, 'flow-hooks'), { 'gate.ts': gateAt(place) });
  return { name, made, world: made.world };
}

async function deployedValues(world: World, name: string): Promise<unknown> {
  return ((await world.get('configmaps', name))?.['data'] as { readonly values?: string } | undefined)
    ?.values;
}

async function operationOf(world: World, name: string): Promise<string | undefined> {
  const object = (await world.expect({ path: modulePath(name) })) as {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  };
  return object.metadata.annotations?.[OPERATION];
}

async function annotate(world: World, name: string, operation: string): Promise<void> {
  await world.expect({
    method: 'PATCH',
    path: modulePath(name),
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [OPERATION]: operation } } },
  });
}

async function untilValues(world: World, name: string, values: string): Promise<void> {
  await vi.waitFor(async () => expect(await deployedValues(world, name)).toBe(values), WAIT);
}

/** What flow hooks put off, with and without a restart of the daemon before it is done. */
describeLifecycle((backend) => {
  describe('work that a flow hook defers', () => {
    test('is done after a restart, an annotated operation included', async () => {
      const { name, made, world } = await gatedWorld(backend(), 'BeforeForceReconcile');
      await using _made = made;
      await world.converge();
      await untilStatus(world, name, { phase: 'Succeeded' });
      await writeTree(world.directory, { closed: '' });
      await annotate(world, name, 'force-reconcile');
      await untilStatus(world, name, { phase: 'Init' });
      expect(await operationOf(world, name)).toBe('force-reconcile');
      await world.stop();
      await world.merge('configmaps', name, { data: { values: 'by hand' } });
      await rm(join(world.directory, 'closed'));
      await world.start();
      await untilValues(world, name, '{}');
      await vi.waitFor(async () => expect(await operationOf(world, name)).toBeUndefined(), WAIT);
    });
  });
});

describeApiIndependent((backend) => {
  describe('work that a flow hook defers', () => {
    test.each([['Start'], ['DuringResponsibilityCheck'], ['AfterResponsibilityCheck'], ['BeforeReconcile']])(
      'at %s is shown as Init, and is done by the next reconcile without another change',
      async (place) => {
        const { name, made, world } = await gatedWorld(backend(), place);
        await using _made = made;
        await world.converge();
        await untilStatus(world, name, { phase: 'Succeeded' });
        await writeTree(world.directory, { closed: '' });
        await world.putConfig({ [name]: 'size: 5' });
        await untilStatus(world, name, { phase: 'Init' });
        await rm(join(world.directory, 'closed'));
        expect(await deployedValues(world, name)).toBe('{}');
        await world.clock.passSleep(TEN_MINUTES_MS);
        await untilValues(world, name, '{"size":5}');
        await untilStatus(world, name, { phase: 'Succeeded' });
      },
    );

    test('is done although the module was aborted before, and its annotation is not swallowed', async () => {
      const { name, made, world } = await gatedWorld(backend(), 'BeforeReconcile');
      await using _made = made;
      await writeTree(world.directory, { closed: '' });
      await world.converge();
      await annotate(world, name, 'abort');
      await untilStatus(world, name, { phase: 'Failed' });
      await annotate(world, name, 'reconcile');
      await untilStatus(world, name, { phase: 'Init' });
      await rm(join(world.directory, 'closed'));
      await world.clock.passSleep(TEN_MINUTES_MS);
      await untilValues(world, name, '{}');
      await vi.waitFor(async () => expect(await operationOf(world, name)).toBeUndefined(), WAIT);
    });
  });
});
