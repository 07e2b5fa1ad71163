import { expect, test } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, shHook } from '../support/world-files.ts';

const SAYS = (module: string) => announcer(module, { beforeHelm: 1, afterDeleteHelm: 1 });

/** Fails while the file `<module>-broken` is there. */
const FAILS = (module: string) =>
  SAYS(module).replace(/\necho /, `\nif [ -e "$WORLD/${module}-broken" ]; then exit 1; fi\necho `);

const MODULES = {
  'values.yaml': 'dbEnabled: true\nwebEnabled: true\ndnsEnabled: true\napiEnabled: true\n',
  '001-db/hooks/hook.sh': FAILS('db'),
  '002-web/hooks/hook.sh': SAYS('web'),
  '002-web/module.yaml': 'requires: [{name: db}]\n',
  '003-api/hooks/hook.sh': SAYS('api'),
  '003-api/module.yaml': 'requires: [{name: web}]\n',
  '004-dns/hooks/hook.sh': SAYS('dns'),
  '../db-broken': '',
};

/** Waits until the head of a queue has failed so many times. */
async function untilFailed(world: World, queue: string, times: number): Promise<void> {
  await world.log.until(() => world.daemon.operator.queues.get(queue).entries[0]?.failures === times);
}

async function page(world: World, path: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}${path}`)).text();
}

const ISOLATE = { 'module-failure-policy': 'isolate' };
const ALL_OVER = { 'all.sh': announcer('global', { afterAll: 1 }) };

describeApiIndependent((backend) => {
  test('a failing module blocks everything behind it', async () => {
    await using world = await World.create(backend(), { modules: MODULES, globalHooks: ALL_OVER });
    await world.start();
    expect(await world.passDelay()).toBe(5_000);
    await untilFailed(world, 'main', 2);
    expect(await world.untilDelayed()).toBeGreaterThan(5_000);
    expect(world.log.printed).toEqual([]);
    await world.expel('db-broken');
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual([
      'db beforeHelm',
      'web beforeHelm',
      'api beforeHelm',
      'dns beforeHelm',
      'global afterAll',
    ]);
  });

  test('with module-failure-policy isolate the converge continues without a failing module and those that require it', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      globalHooks: ALL_OVER,
      flags: ISOLATE,
    });
    await world.converge();
    expect(world.log.printed).toEqual(['dns beforeHelm', 'global afterAll']);
    expect(await page(world, '/readyz')).toBe('Startup converge done.\n');
    expect(await page(world, '/status/converge')).toContain('\nISOLATED_MODULES: db\n');
    expect(await page(world, '/status/converge?output=json')).toContain('"ISOLATED_MODULES":["db"]');
    expect(await page(world, '/metrics')).toContain('addon_operator_module_isolated{module="db"} 1\n');
    expect(await world.passDelay('isolated_db')).toBe(5_000);
    await untilFailed(world, 'isolated_db', 2);
    expect(await world.untilDelayed('isolated_db')).toBeGreaterThan(5_000);
    await world.expel('db-broken');
    await world.passDelay('isolated_db');
    await world.log.untilPrinted('api beforeHelm');
    expect(world.log.printed.slice(2)).toEqual(['db beforeHelm', 'web beforeHelm', 'api beforeHelm']);
    await world.log.untilMessage('Module is no longer isolated', 3);
    expect(await page(world, '/status/converge')).not.toContain('ISOLATED_MODULES');
  });

  test('an isolated module is retried at once by a converge, and can be disabled', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      globalHooks: ALL_OVER,
      flags: ISOLATE,
      config: {},
    });
    await world.converge();
    await world.untilDelayed('isolated_db');
    await world.expel('db-broken');
    await world.putConfig({ global: 'a: 1\n' });
    await world.log.untilPrinted('api beforeHelm');
    expect(world.log.printed.filter((line) => line === 'db beforeHelm')).toHaveLength(1);
    await world.write('modules', { '../db-broken': '' });
    await world.putConfig({ global: 'a: 2\n' });
    await world.untilDelayed('isolated_db');
    await world.expel('db-broken');
    await world.putConfig({ global: 'a: 2\n', dbEnabled: 'false' });
    await world.log.untilPrinted('db afterDeleteHelm');
    const deleted = world.log.printed.filter((line) => line.endsWith('afterDeleteHelm'));
    expect(deleted).toEqual(['api afterDeleteHelm', 'web afterDeleteHelm', 'db afterDeleteHelm']);
  });

  test('a module that waits for its Synchronization in a named queue is isolated when that fails', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'dbEnabled: true\ndnsEnabled: true\n',
        '001-db/hooks/hook.sh': shHook(
          'kubernetes: [{apiVersion: v1, kind: ConfigMap, queue: side, nameSelector: {matchNames: [none]}}]',
          'if [ -e "$WORLD/db-broken" ]; then exit 1; fi\necho "db synchronized"',
        ),
        '001-db/hooks/helm.sh': SAYS('db'),
        '004-dns/hooks/hook.sh': SAYS('dns'),
        '../db-broken': '',
      },
      flags: ISOLATE,
    });
    await world.converge();
    expect(world.log.printed).toEqual(['dns beforeHelm']);
    await world.untilDelayed('side');
    await world.expel('db-broken');
    await world.passDelay('side');
    await world.log.untilPrinted('db beforeHelm');
    expect(world.log.printed).toEqual(['dns beforeHelm', 'db synchronized', 'db beforeHelm']);
  });

  test('modules with equal numbers run one after another, with parallel-modules at the same time', async () => {
    const meeting = (own: string, other: string, patienceSeconds: number) =>
      shHook(
        'beforeHelm: 1',
        `touch "$WORLD/${own}-here"
for _ in $(seq ${patienceSeconds}0); do
if [ -e "$WORLD/${other}-here" ]; then echo "${own} met ${other}"; exit 0; fi; sleep 0.1
done
echo "${own} is alone"`,
      );
    const modules = (patienceSeconds: number) => ({
      'values.yaml': 'aEnabled: true\nbEnabled: true\ncEnabled: true\n',
      '001-a/hooks/hook.sh': meeting('a', 'b', patienceSeconds),
      '001-b/hooks/hook.sh': meeting('b', 'a', patienceSeconds),
      '002-c/hooks/hook.sh': SAYS('c'),
    });
    await using world = await World.create(backend(), { modules: modules(1) });
    await world.converge();
    expect(world.log.printed).toEqual(['a is alone', 'b met a', 'c beforeHelm']);
    await using parallel = await World.create(backend(), {
      modules: modules(30),
      flags: { 'parallel-modules': 'true' },
    });
    await parallel.converge();
    expect(parallel.log.printed.slice(0, 2).toSorted()).toEqual(['a met b', 'b met a']);
    expect(parallel.log.printed[2]).toBe('c beforeHelm');
    expect(new Set(parallel.log.records.map((record) => record['queue']))).toContain('parallel_queue_1');
  });

  test('a failing module of a parallel run is repeated in its queue, and the waiting task shows why', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'aEnabled: true\nbEnabled: true\ncEnabled: true\n',
        '001-a/hooks/hook.sh': FAILS('a'),
        '001-b/hooks/hook.sh': SAYS('b'),
        '002-c/hooks/hook.sh': SAYS('c'),
        '../a-broken': '',
      },
      flags: { 'parallel-modules': 'true' },
    });
    await world.start();
    await world.untilDelayed('parallel_queue_0');
    await world.log.untilPrinted('b beforeHelm');
    const [waiting] = world.daemon.operator.router.main.entries;
    expect(waiting).toMatchObject({ failures: 1, task: { type: 'ParallelModuleRun' } });
    expect(waiting?.lastError).toMatch(/^\n\tErrors:\n\t- a: run hooks by binding beforeHelm: /);
    // The parallel run, the module behind it and the converge; what waits in a parallel queue is part of the first.
    expect(await page(world, '/status/converge')).toBe('STARTUP_CONVERGE_IN_PROGRESS: 3 tasks\n');
    const metrics = await page(world, '/metrics');
    expect(metrics).toContain('{queue="main",module="",task_type="ParallelModuleRun",hook=""} 1\n');
    expect(metrics).toContain('{queue="parallel_queue_0",module="a",task_type="ModuleRun",hook=""} 1\n');
    expect(metrics).not.toContain('module="Parallel run');
    await world.expel('a-broken');
    await world.passDelay('parallel_queue_0');
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual(['b beforeHelm', 'a beforeHelm', 'c beforeHelm']);
  });
});
