import { expect, test, vi } from 'vitest';
import { kstatusProblems } from '../support/kstatus.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { eventsOf, moduleWorld, readModule, uniqueName } from '../support/module-world.ts';
import { untilReported } from '../support/reported-cause.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 200 };
const LOOK_MS = 10_000;

/** Each situation that holds a module up is found, as the same cause, wherever the operator says how it is. */
describeApiIndependent((backend) => {
  test('a failing global hook, the enabled script of another module and a failing module in front are the causes, one after another', async () => {
    const [web, other] = [uniqueName(), uniqueName()];
    await using made = await moduleWorld(
      backend(),
      {
        globalHooks: {
          'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/mended-global" ] || { echo no network; exit 1; } >&2'),
        },
        modules: {
          'values.yaml': `${web}Enabled: true\n${other}Enabled: true\n`,
          [`001-${web}/hooks/hook.sh`]: shHook(
            'beforeHelm: 1',
            '[ -e "$WORLD/mended-module" ] || { echo no disk; exit 1; } >&2',
          ),
          [`002-${other}/enabled`]:
            '#!/bin/sh\n[ -e "$WORLD/mended-enabled" ] || { echo no answer >&2; exit 1; }\necho true > "$MODULE_ENABLED_RESULT"\n',
        },
      },
      [web, other],
    );
    const { world } = made;
    await world.start();
    await untilReported(world, web, {
      reason: 'QueueBlocked',
      text: 'no network',
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'enabled',
    });
    await world.write('modules', { '../mended-global': '' });
    // Delays also end by themselves, so an attempt may be in progress.
    world.daemon.operator.router.main.cutDelay();
    await world.log.untilMessage('ConvergeModules failed, requeue task to retry after delay.');
    await untilReported(world, web, {
      reason: 'QueueBlocked',
      text: `enabled script of module '${other}' failed`,
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'enabled',
    });
    await world.write('modules', { '../mended-enabled': '' });
    world.daemon.operator.router.main.cutDelay();
    await world.log.untilMessage('ModuleRun failed. Requeue task to retry after delay.');
    await untilReported(world, web, {
      reason: 'RunFailed',
      text: 'no disk',
      kstatus: 'Stalled',
      event: 'Failed',
      node: 'before-helm',
    });
    await untilReported(world, other, {
      reason: 'QueueBlocked',
      text: 'no disk',
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'queue',
    });
    await world.write('modules', { '../mended-module': '' });
    world.daemon.operator.router.main.cutDelay();
    await world.daemon.firstConverge;
    await vi.waitFor(async () => {
      expect((await readModule(world, other))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Succeeded' }),
      );
    }, WAIT);
  });

  test('a refused ConfigMap and a pause are the causes, for modules that were ready', async () => {
    const [first, second] = [uniqueName(), uniqueName()];
    await using made = await moduleWorld(
      backend(),
      {
        config: {},
        modules: {
          'values.yaml': `${first}Enabled: true\n${second}Enabled: true\n`,
          [`001-${first}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'true'),
          [`002-${second}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'true'),
          [`002-${second}/openapi/config-values.yaml`]:
            'type: object\nproperties: {replicas: {type: integer}}\n',
        },
      },
      [first, second],
    );
    const { world } = made;
    await world.converge();
    await world.putConfig({ [second]: 'replicas: many\n' });
    await untilReported(world, first, {
      reason: 'ConfigMapRefused',
      text: 'replicas',
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'config',
    });
    await world.putConfig({});
    await vi.waitFor(async () => {
      expect((await readModule(world, first))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'True' }),
      );
      expect(await eventsOf(world, first)).toContainEqual(expect.objectContaining({ reason: 'Recovered' }));
    }, WAIT);
    await runInWorld(world, 'module', 'pause', second, '--reason', 'new disks');
    await untilReported(world, second, {
      reason: 'Paused',
      text: 'new disks',
      kstatus: 'Ready',
      event: 'Paused',
      node: 'not-paused',
    });
    await runInWorld(world, 'module', 'resume', second);
  });

  test('a values file that is broken while the operator runs is the cause until it is corrected', async () => {
    const [broken, other] = [uniqueName(), uniqueName()];
    await using made = await moduleWorld(
      backend(),
      {
        flags: { 'watch-files': 'true' },
        modules: {
          'values.yaml': `${broken}Enabled: true\n${other}Enabled: true\n`,
          [`001-${broken}/values.yaml`]: `${broken}: {a: 1}\n`,
          [`001-${broken}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'true'),
          [`002-${other}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'true'),
        },
      },
      [broken, other],
    );
    const { world } = made;
    await world.converge();
    await world.log.untilMessage('watching files for changes');
    await world.write('modules', { [`001-${broken}/values.yaml`]: `${broken}: {a: [\n` });
    for (const name of [broken, other])
      await untilReported(world, name, {
        reason: 'FilesNotLoaded',
        text: `001-${broken}/values.yaml`,
        kstatus: 'Stalled',
        event: 'HeldUp',
        node: 'found',
      });
    await world.write('modules', { [`001-${broken}/values.yaml`]: `${broken}: {a: 2}\n` });
    await vi.waitFor(async () => {
      expect((await readModule(world, other))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'True' }),
      );
    }, WAIT);
  });

  test('a global hook that hangs is the cause for a module that was ready', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(
      backend(),
      {
        globalHooks: {
          'hang.sh': shHook(
            'kubernetes: [{name: maps, kind: ConfigMap, nameSelector: {matchNames: [start]}}]',
            'grep -q Synchronization "$BINDING_CONTEXT_PATH" || exec sleep 600',
          ),
        },
        modules: {
          'values.yaml': `${name}Enabled: true\n`,
          [`001-${name}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'true'),
        },
      },
      [name],
    );
    const { world } = made;
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'start' } });
    const { running } = world.daemon.operator.execution;
    await vi.waitFor(() => expect(running.all.map(({ hook }) => hook.name)).toEqual(['hang.sh']), WAIT);
    world.clock.jump(15_000);
    await world.clock.passSleep(LOOK_MS);
    await vi.waitFor(async () => {
      const object = await readModule(world, name);
      expect(object?.status?.conditions).toContainEqual(
        expect.objectContaining({
          type: 'Ready',
          status: 'Unknown',
          reason: 'HookRunning',
          message: expect.stringMatching(
            /^hook hang\.sh \(kubernetes, queue main, task GlobalHookRun, pid \d+\) has been running since 2/u,
          ),
        }),
      );
      expect(object && kstatusProblems(object)).toEqual([]);
    }, WAIT);
    world.clock.jump(10 * 60_000);
    await untilReported(world, name, {
      reason: 'HookHangs',
      text: 'hook hang.sh',
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'enabled',
    });
  });
});
