import { expect } from 'vitest';
import { World } from '../../support/world.ts';
import { runInWorld } from '../../support/world-command.ts';
import { configMapChart, shHook, under } from '../../support/world-files.ts';
import { makeGate, openGate } from '../../support/world-processes.ts';
import type { Scenario } from '../scenario.ts';

/** A hook that blocks, when there is a gate, until it is opened. */
function gated(name: string, config: string): string {
  return shHook(
    config,
    `if [ -p "$WORLD/gate" ]; then echo "at ${name}"; cat "$WORLD/gate" > "$WORLD/passed"; fi`,
  );
}

const GLOBAL_HOOKS = {
  '010-prepare.sh': gated('prepare', 'onStartup: 1'),
  '020-nodes.sh': gated(
    'nodes',
    'kubernetes: [{name: nodes, kind: Node, executeHookOnEvent: [], jqFilter: .metadata.name}]',
  ),
  '025-facts.sh': gated('facts', 'beforeAll: 1'),
  '030-report.sh': gated('report', 'afterAll: 1\nschedule: [{name: leap-day, crontab: "0 3 29 2 *"}]'),
};

const MODULES = {
  'values.yaml': 'dbEnabled: true\nwebEnabled: true\noldEnabled: true\n',
  ...under('001-db', configMapChart('db', 'db')),
  ...under('002-web', configMapChart('web', 'web')),
  ...under('003-old', configMapChart('old', 'old')),
  '002-web/hooks/certificates.sh': gated(
    'certificates',
    'kubernetes: [{name: certificates, kind: Secret, nameSelector: {matchNames: [certificate]}}]',
  ),
  '002-web/hooks/before.sh': gated('web', 'beforeHelm: 1'),
  '003-old/hooks/bye.sh': gated('old', 'afterDeleteHelm: 1'),
};

/** What `queue main` prints. */
async function mainQueue(world: World): Promise<string> {
  const { exitCode, stdout } = await runInWorld(world, 'queue', 'main');
  expect(exitCode).toBe(0);
  return stdout;
}

function tasksOf(dump: string): string {
  return (dump.match(/^ *\d+\. .*\n/gm) ?? []).join('');
}

/** The tasks in it, once a hook has come to the gate for the time `count`; lets the hook go on. */
async function tasksAt(world: World, hook: string, count = 1): Promise<string> {
  await world.log.untilPrinted(`at ${hook}`, count);
  const tasks = tasksOf(await mainQueue(world));
  await openGate(world);
  return tasks;
}

export const lifecycleScenario: Scenario = {
  title: 'the queue main looks as the page about the lifecycle shows',
  takes: [],
  gives: [
    'queue-start',
    'queue-synchronization',
    'queue-before-all',
    'queue-modules',
    'queue-module-synchronization',
    'queue-after-all',
    'queue-change',
    'queue-failure',
  ],
  async run(backend) {
    await using world = await World.create(backend, { globalHooks: GLOBAL_HOOKS, modules: MODULES });
    await world.converge();
    await world.stop();
    await world.putConfig({ oldEnabled: 'false' });
    await makeGate(world);
    await world.start();
    const start = await tasksAt(world, 'prepare');
    const synchronization = await tasksAt(world, 'nodes');
    const beforeAll = await tasksAt(world, 'facts');
    const modules = await tasksAt(world, 'old');
    const moduleSynchronization = await tasksAt(world, 'certificates');
    await tasksAt(world, 'web');
    const afterAll = await tasksAt(world, 'report');
    await world.daemon.firstConverge;
    await world.putConfig({ oldEnabled: 'false', web: 'replicas: 3' });
    const change = await tasksAt(world, 'web', 2);
    return {
      'queue-start': start,
      'queue-synchronization': synchronization,
      'queue-before-all': beforeAll,
      'queue-modules': modules,
      'queue-module-synchronization': moduleSynchronization,
      'queue-after-all': afterAll,
      'queue-change': change,
      'queue-failure': await failure(backend),
    };
  },
};

async function failure(backend: World['backend']): Promise<string> {
  await using world = await World.create(backend, {
    globalHooks: { 'disk.sh': shHook('onStartup: 1', 'echo "the disk is full" >&2\nexit 1') },
  });
  await world.start();
  await world.untilDelayed();
  const dump = await mainQueue(world);
  const [head = ''] = dump.split('\n');
  return `${head.replace(/\ds left/, '3s left')}\n\n${tasksOf(dump)}`;
}
