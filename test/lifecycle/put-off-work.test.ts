import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { describe, expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { modulePath, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { Backend, World } from '../support/world.ts';
import { configMapChart, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const OPERATION = 'addon-operator.io/operation';
const TEN_MINUTES_MS = 600_000;

/** Puts off at a place while the file `closed` is there, except modules that need others. */
function gateAt(place: string): string {
  return `import { existsSync } from 'node:fs';
import { defineFlowHooks } from 'addon-operator/sdk';
const putOff = { abortReconcile: true, requeueAfterMs: ${TEN_MINUTES_MS} };
const isClosed = () => existsSync(process.env.WORLD + '/closed');
export default defineFlowHooks((hooks) => {
  hooks.registerHook(
    ({ module }) => (isClosed() && module?.name.endsWith('needs') !== true ? putOff : undefined),
    '${place}',
  );
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

/** A module that the gate puts off, and one that requires it, whose name ends with `needs`. */
async function chainedWorld(backend: Backend) {
  const { name: late, made, world } = await gatedWorld(backend, 'BeforeReconcile');
  const needs = `${late}needs`;
  await world.write('modules', {
    ...under(`002-${needs}`, configMapChart(needs, needs)),
    [`002-${needs}/values.yaml`]: `${needs}Enabled: true\n`,
    [`002-${needs}/module.yaml`]: `requires: [{name: ${late}}]\n`,
  });
  return { late, needs, made, world };
}

async function debug(world: World, path: string, form?: Readonly<Record<string, string>>): Promise<string> {
  const socketPath = join(world.directory, 'debug.socket');
  const response = await requestDebug({ socketPath, path, ...(form !== undefined && { form }) }, systemClock);
  return response.body;
}

async function explain(world: World, name: string): Promise<string> {
  return await debug(world, `/module/${name}/explain.text`);
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

    test('holds up a module that requires the deferred one until it is deployed, and not after a restart', async () => {
      const { late, needs, made, world } = await chainedWorld(backend());
      await using _made = made;
      await writeTree(world.directory, { closed: '' });
      await world.converge();
      await untilStatus(world, needs, { phase: 'Init' });
      expect(await explain(world, needs)).toMatch(
        new RegExp(`^waits for +module ${late}, which a flow hook put off$`, 'm'),
      );
      expect(await world.get('configmaps', needs)).toBeUndefined();
      await rm(join(world.directory, 'closed'));
      await world.clock.passSleep(TEN_MINUTES_MS);
      await untilStatus(world, needs, { phase: 'Succeeded' });
      expect(await world.get('configmaps', late)).toBeDefined();
      await world.stop();
      await writeTree(world.directory, { closed: '' });
      await world.putConfig({ [needs]: 'size: 5' });
      await world.start();
      await untilValues(world, needs, '{"size":5}');
    });

    test('is a deletion that a command starts again', async () => {
      const { name, made, world } = await gatedWorld(backend(), 'BeforeDelete');
      await using _made = made;
      await world.converge();
      await untilStatus(world, name, { phase: 'Succeeded' });
      await writeTree(world.directory, { closed: '' });
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await untilStatus(world, name, { phase: 'Deleting' });
      const remedy = `start it again with \`addon-operator module reconcile ${name}\``;
      await vi.waitFor(async () => expect(await explain(world, name)).toContain(remedy), WAIT);
      await rm(join(world.directory, 'closed'));
      const path = `/module/${name}/operation`;
      expect(await debug(world, path, { operation: 'reconcile' })).toBe(
        `module ${name} is disabled: its deletion is tried again\n`,
      );
      await vi.waitFor(async () => expect(await world.get('configmaps', name)).toBeUndefined(), WAIT);
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
        // A run that is pending is shown as Init too: the hook may not have been asked yet.
        await world.clock.untilSleep(TEN_MINUTES_MS);
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
