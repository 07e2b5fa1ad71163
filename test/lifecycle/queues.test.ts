import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { untilTasks } from '../support/until-tasks.ts';
import { World } from '../support/world.ts';
import { announcer, shHook } from '../support/world-files.ts';

/** Runs on every change of ConfigMap `trigger`, in the given queue. */
function onTrigger(namespace: string, queue: string, body: string, more = ''): string {
  return shHook(
    `
kubernetes:
- name: trigger
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${namespace}]}}
  executeHookOnSynchronization: false
  queue: ${queue}
  ${more}`,
    body,
  );
}

describeLifecycle((backend) => {
  test('tasks of one queue run in the order of their events, and waiting ones of a hook share one run', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'block.sh': onTrigger(world.namespace, 'q', `echo block; while [ ! -e "$WORLD/go" ]; do :; done`),
      'names.sh': shHook(
        `
kubernetes:
- name: items
  apiVersion: v1
  kind: ConfigMap
  labelSelector: {matchLabels: {item: "yes"}}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  keepFullObjectsInMemory: false
  jqFilter: .metadata.name
  queue: q`,
        `cat "$BINDING_CONTEXT_PATH"; echo`,
      ),
    });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.log.untilPrinted('block');
    for (const name of ['b', 'a', 'c'])
      await world.create('configmaps', { metadata: { name, labels: { item: 'yes' } } } as never);
    await untilTasks(world, 'q', 4);
    await world.write('modules', { '../go': '' });
    const event = (name: string) =>
      `{"binding":"items","type":"Event","watchEvent":"Added","filterResult":"${name}"}`;
    const together = `[${event('b')},${event('a')},${event('c')}]`;
    await world.log.untilPrinted(together);
    expect(world.log.printed.at(-1)).toBe(together);
  });
});

describeApiIndependent((backend) => {
  test('a failing task is retried at the head of its queue after 5 s, growing to 30 s', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'fail.sh': shHook(
          'onStartup: 1',
          `
runs=$(cat "$WORLD/runs" 2>/dev/null || echo 0)
runs=$((runs + 1)); echo $runs > "$WORLD/runs"
if [ $runs -lt 9 ]; then echo "attempt $runs says no" >&2; exit 1; fi
echo "attempt $runs succeeds"`,
        ),
        'next.sh': announcer('next', { onStartup: 2 }),
      },
    });
    await world.start();
    const delays: number[] = [];
    for (let failure = 1; failure < 9; failure += 1) {
      await world.log.until(
        (records) =>
          records.filter((record) => record['msg'] === 'attempt failed, will retry').length >= failure,
      );
      expect(world.daemon.operator.router.main.entries[0]).toMatchObject({
        failures: failure,
        lastError: `global hook 'fail.sh' failed: attempt ${failure} says no`,
      });
      delays.push(await world.passDelay());
    }
    await world.daemon.firstConverge;
    expect(delays).toEqual([5_000, 6_000, 7_000, 9_000, 13_000, 21_000, 30_000, 30_000]);
    expect(world.log.printed).toEqual(['attempt 9 succeeds', 'next onStartup']);
  });

  test('hooks in a named queue run while the main queue is blocked', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'main.sh': onTrigger(world.namespace, 'main', 'echo "main fails"; exit 1'),
      'side.sh': onTrigger(world.namespace, 'side', 'echo "side runs"'),
    });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.untilDelayed();
    await world.log.untilPrinted('side runs');
    await world.merge('configmaps', 'trigger', { data: { again: 'yes' } });
    await world.log.untilPrinted('side runs', 2);
    expect(world.log.printed.filter((line) => line === 'main fails')).toHaveLength(1);
  });

  test('all tasks without a queue of their own are in the main queue', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'g.sh': announcer('global', { onStartup: 1 }) },
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/block.sh': shHook(
          'beforeHelm: 1',
          'echo block; while [ ! -e "$WORLD/go" ]; do :; done',
        ),
      },
    });
    await world.write('global-hooks', {
      'event.sh': onTrigger(world.namespace, 'main', 'echo "event runs"'),
    });
    await world.start();
    await world.log.untilPrinted('block');
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    const { main } = world.daemon.operator.router;
    await world.log.until(() => main.length === 3);
    expect(main.entries.map(({ task }) => task.type)).toEqual([
      'ModuleRun',
      'ConvergeModules',
      'GlobalHookRun',
    ]);
    await world.write('modules', { '../go': '' });
    await world.log.untilPrinted('event runs');
    expect(world.daemon.operator.converge.first).toBe('done');
  });

  test('a failure of a kubernetes or schedule binding with allowFailure is ignored', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'event.sh': onTrigger(world.namespace, 'side', 'echo "event fails"; exit 1', 'allowFailure: true'),
      'tick.sh': shHook(
        'schedule:\n- {crontab: "* * * * * *", allowFailure: true, queue: ticks}',
        'echo "tick fails"; exit 1',
      ),
    });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.log.untilPrinted('event fails');
    world.clock.jump(1_000);
    await world.log.untilPrinted('tick fails');
    await world.log.untilMessage('hook failed, but the failure is allowed', 2);
    const { status } = world.daemon.operator.queues.get('side');
    expect(status.type).not.toBe('delayed');
  });

  test('the lengths of the queues are on the metrics page', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'fail.sh': shHook('onStartup: 1', 'exit 1') },
    });
    await world.start();
    await world.untilDelayed();
    const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
    expect(page).toContain('addon_operator_tasks_queue_length{queue="main"} 3');
    for (let number = 0; number < 20; number += 1)
      expect(page).toContain(`addon_operator_tasks_queue_length{queue="parallel_queue_${number}"} 0`);
    expect(page).toContain(
      'addon_operator_tasks_queue_head_info{queue="main",module="",task_type="GlobalHookRun",hook="fail.sh"} 1',
    );
    expect(page).toMatch(/addon_operator_global_hook_errors_total\{hook="fail\.sh",.*\} 1/);
  });
});
