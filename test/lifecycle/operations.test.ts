import { describe, expect, test, vi } from 'vitest';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { eventsOf, modulePath, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, shHook, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const ANNOTATION = 'addon-operator.io/operation';
const READY = 'ModuleRun success, module is ready';

async function annotate(world: World, name: string, operation: string): Promise<void> {
  await world.expect({
    method: 'PATCH',
    path: modulePath(name),
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [ANNOTATION]: operation } } },
  });
}

async function annotation(world: World, name: string): Promise<string | undefined> {
  const object = (await world.expect({ path: modulePath(name) })) as {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  };
  return object.metadata.annotations?.[ANNOTATION];
}

async function untilTakenOff(world: World, name: string): Promise<void> {
  await vi.waitFor(async () => expect(await annotation(world, name)).toBeUndefined(), WAIT);
}

/** A hook that hangs while a file is there. */
function hangingHook(name: string): string {
  return shHook(
    'beforeHelm: 1',
    `if [ -e "$WORLD/hangs" ]; then echo "${name} hangs"; exec sleep 1000; fi\necho "${name} runs"`,
  );
}

/** Operations on modules, asked for by annotations and by commands. */
describeLifecycle((backend) => {
  describe('an annotation', () => {
    test('runs a module, or applies it even if nothing has changed, and is removed', async () => {
      const name = uniqueName();
      const modules = {
        'values.yaml': `${name}Enabled: true\n`,
        ...under(`001-${name}`, {
          ...configMapChart(name, name),
          'hooks/say.sh': announcer(name, { afterHelm: 1 }),
        }),
      };
      await using made = await moduleWorld(backend(), { modules }, [name]);
      const { world } = made;
      await world.converge();
      const { status: before } = await untilStatus(world, name, { phase: 'Succeeded' });
      await annotate(world, name, 'reconcile');
      await world.log.untilPrinted(`${name} afterHelm`, 2);
      await untilTakenOff(world, name);
      expect(await releaseStatuses(world, name)).toEqual(['deployed']);
      await world.merge('configmaps', name, { data: { values: 'by hand' } });
      await annotate(world, name, 'force-reconcile');
      await world.log.untilPrinted(`${name} afterHelm`, 3);
      await untilTakenOff(world, name);
      expect(await releaseStatuses(world, name)).toEqual(['superseded', 'deployed']);
      expect((await world.get('configmaps', name))?.['data']).toMatchObject({ values: '{}' });
      world.clock.jump(60_000);
      const { status } = await untilStatus(world, name, { phase: 'Succeeded', release: { revision: 2 } });
      expect(status?.['lastReconcileTime']).not.toBe(before?.['lastReconcileTime']);
    });

    test('aborts a hook that hangs: the module is Failed, tasks behind it continue, and the next change runs it', async () => {
      const [name, other] = [uniqueName(), uniqueName()];
      const modules = {
        'values.yaml': `${name}Enabled: true\n${other}Enabled: true\n`,
        [`001-${name}/hooks/hook.sh`]: hangingHook(name),
        [`002-${other}/hooks/hook.sh`]: announcer(other, { beforeHelm: 1 }),
      };
      await using made = await moduleWorld(backend(), { modules, config: {} }, [name, other]);
      const { world } = made;
      await writeTree(world.directory, { hangs: '' });
      await world.start();
      await world.log.untilPrinted(`${name} hangs`);
      await untilStatus(world, name, { phase: 'Progressing' });
      await annotate(world, name, 'abort');
      await world.daemon.firstConverge;
      expect(world.log.printed).toContain(`${other} beforeHelm`);
      await untilTakenOff(world, name);
      const { status } = await untilStatus(world, name, {
        phase: 'Failed',
        lastError: `The run of module "${name}" was aborted on request`,
      });
      expect(status).not.toHaveProperty('nextRetry');
      await world.expel('hangs');
      await world.putConfig({ [name]: 'a: 1\n' });
      await world.log.untilPrinted(`${name} runs`);
      await untilStatus(world, name, { phase: 'Succeeded' });
    });

    test('that is unknown is kept, and an Event reports it', async () => {
      const name = uniqueName();
      const modules = {
        'values.yaml': `${name}Enabled: true\n`,
        [`001-${name}/hooks/hook.sh`]: announcer(name, { beforeHelm: 1 }),
      };
      await using made = await moduleWorld(backend(), { modules }, [name]);
      const { world } = made;
      await world.converge();
      await untilStatus(world, name, { phase: 'Succeeded' });
      await annotate(world, name, 'dance');
      await vi.waitFor(
        async () =>
          expect(await eventsOf(world, name)).toContainEqual(
            expect.objectContaining({
              type: 'Warning',
              reason: 'UnknownOperation',
              message: `The annotation ${ANNOTATION} has the unknown operation "dance"; expected one of reconcile, force-reconcile, abort`,
            }),
          ),
        WAIT,
      );
      expect(await annotation(world, name)).toBe('dance');
      expect(world.log.printed).toEqual([`${name} beforeHelm`]);
    });
  });

  describe('without Module objects', () => {
    test('a command runs a module, forces its deployment, and reports why it cannot', async () => {
      const modules = {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '002-off/hooks/hook.sh': announcer('off', { beforeHelm: 1 }),
      };
      await using world = await World.create(backend(), { modules });
      await world.converge();
      expect(await runInWorld(world, 'module', 'reconcile', 'web')).toMatchObject({ exitCode: 0 });
      await world.log.untilMessage(READY, 2);
      expect(await releaseStatuses(world, 'web')).toEqual(['deployed']);
      expect(await runInWorld(world, 'module', 'reconcile', 'web', '--force')).toMatchObject({ exitCode: 0 });
      await world.log.untilMessage(READY, 3);
      expect(await releaseStatuses(world, 'web')).toEqual(['superseded', 'deployed']);
      expect(await runInWorld(world, 'module', 'abort', 'off')).toMatchObject({
        exitCode: 1,
        stderr: 'error: module off is disabled\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
      });
      expect(await runInWorld(world, 'module', 'abort', 'nothing')).toMatchObject({ exitCode: 1 });
    });
  });
});
