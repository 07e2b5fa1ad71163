import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import { createView } from './operator-view.ts';

type Helm = Parameters<typeof createView>[0]['helm'];

function viewOf(lab: OperatorLab): DaemonView {
  const helm: Pick<Helm, 'render'> & { readonly monitors: Pick<Helm['monitors'], 'resources'> } = {
    render: async ({ module, values }) => `# ${module.name} ${JSON.stringify(values)}`,
    monitors: { resources: (module) => (module === 'web' ? ['/ClusterRole/r', 'other/Pod/p'] : undefined) },
  };
  return createView({
    operator: lab.operator,
    health: { outage: undefined },
    journal: lab.journal,
    values: lab.values,
    memory: lab.operator.memory,
    extensions: lab.operator.extensions,
    helm: helm as Helm,
    namespace: 'n',
    readObjects: async () => ({ objects: [], eventsProblem: '' }),
    compare: () => Promise.reject(new Error('no cluster here')),
    compareRevisions: () => '',
    patchAccess: () => [],
  });
}

const EQUALS = [moduleFor('web', 1), moduleFor('db', 1)];

const never = new AbortController().signal;

test('the view follows the first converge', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web']);
  const view = viewOf(lab);
  const states = () => [view.readiness(never), view.convergeStatus()];
  expect(states()).toEqual([{ type: 'converging' }, { type: 'not-started' }]);
  lab.obstacles.set('deploy web', () => gate.promise);
  await lab.converge();
  expect(states()).toEqual([{ type: 'converging' }, { type: 'first', tasks: 2 }]);
  gate.resolve();
  await lab.settle();
  expect(states()).toEqual([{ type: 'converged' }, { type: 'done', tasks: 0 }]);
});

test('queues show their tasks, failures and delays', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  const view = viewOf(lab);
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  await lab.clock.advance(2_000);
  expect(view.queues()).toEqual([
    {
      name: 'main',
      status: 'sleep after fail for 5s (3s left of 5s delay)',
      tasks: [
        {
          index: 1,
          description:
            "ModuleRun:main:web:doStartup:start:failures 1:run hooks by binding beforeHelm: module hook 'a.sh' failed: hook is broken",
        },
        { index: 2, description: 'ConvergeModules:main:::start' },
      ],
    },
  ]);
});

test('sections show merged values, config values, patches and snapshots', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  const view = viewOf(lab);
  await lab.converge();
  const web = view.module('web');
  if (web === undefined) throw new Error('no module');
  expect([web.valuesKey, web.values(), web.configValues(), web.patches()]).toEqual([
    'web',
    {},
    {},
    undefined,
  ]);
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/a', value: 1 }]);
  expect(web.values()).toEqual({ a: 1 });
  expect(web.patches()).toEqual([{ Operations: [{ op: 'add', path: '/web/a', value: 1 }] }]);
  const none = { count: 0, added: 0, deleted: 0, modified: 0, cleaned: 0 };
  expect(web.snapshots()).toEqual({
    'a.sh': { pods: { operations: { sinceLastExecution: none, sinceStart: none }, snapshot: [] } },
  });
  expect(view.global.values()).toEqual({});
  expect(view.module('other')).toBeUndefined();
});

test('modules show what helm would render and what is monitored', async () => {
  await using lab = await operatorLab(['web', 'db']);
  const view = viewOf(lab);
  await lab.converge();
  const options = { isDebug: false, isDiff: false };
  expect(await view.module('web')?.render(options, never)).toBe('# web {"global":{},"web":{}}');
  expect(view.enabledModules()).toEqual(['web', 'db']);
});

test('watched objects are in the namespace of the release where their manifests name none', async () => {
  await using lab = await operatorLab(['web', 'db']);
  const view = viewOf(lab);
  await lab.converge();
  expect(await view.monitoredResources(never)).toEqual({
    web: ['n/ClusterRole/r', 'other/Pod/p'],
    db: undefined,
  });
});

test('a queue without tasks says for how long it has been waiting', async () => {
  await using lab = await operatorLab(['web']);
  const view = viewOf(lab);
  const statuses = () => view.queues().map(({ name: queue, status }) => [queue, status]);
  await lab.converge();
  await lab.clock.advance(12_500);
  expect(statuses()).toEqual([['main', 'waiting for task 12s']]);
});

test('the tasks of a converge are counted in main alone, not in the queues of a parallel run', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(EQUALS, {}, { runsModulesInParallel: true });
  const view = viewOf(lab);
  for (const module of ['web', 'db']) lab.obstacles.set(`deploy ${module}`, () => gate.promise);
  await lab.converge();
  expect(lab.tasks('parallel_queue_0')).toHaveLength(1);
  expect(lab.tasks()).toHaveLength(2);
  expect(view.convergeStatus()).toEqual({ type: 'first', tasks: 2 });
  gate.resolve();
  await lab.settle();
});

test('the list of modules says what fails, when it is tried next and what waits for it', async () => {
  await using lab = await operatorLab(['web', 'db'], { 'web/a.sh': { beforeHelm: 1 } });
  const view = viewOf(lab);
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  lab.pauses.set('db', { reason: 'disks', sinceMs: 0, untilMs: 60_000 });
  const error = "run hooks by binding beforeHelm: module hook 'a.sh' failed: hook is broken";
  expect(view.modules()).toMatchObject([
    {
      module: 'web',
      status: 'failing',
      waitsFor: [],
      lastError: error,
      nextTryAt: '1970-01-01T00:00:05.000Z',
      paused: null,
    },
    {
      module: 'db',
      status: 'paused',
      waitsFor: ['the end of its pause', expect.stringContaining('ModuleRun web in front of it')],
      lastError: null,
      nextTryAt: null,
      paused: { reason: 'disks', until: '1970-01-01T00:01:00.000Z' },
    },
  ]);
});

test('tasks of a module that wait in one queue are one wait with their number', async () => {
  const hook = { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] };
  await using lab = await operatorLab(['web', 'db'], { 'web/a.sh': hook, 'db/a.sh': hook });
  const view = viewOf(lab);
  await lab.converge();
  lab.behaviours.set('web/a.sh', () => new Promise<void>(() => undefined));
  for (const name of ['web', 'db', 'web', 'db']) lab.emit(`${name}/a.sh/pods`);
  await lab.settle();
  expect(view.modules()[1]).toMatchObject({
    waitsFor: ['ModuleHookRun web/a.sh in front of it in queue own; 2 tasks of the module wait for that'],
    heldUpRef: 'queue/own',
  });
});

test('of a parallel run only the module counts as failing that fails', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(
    EQUALS,
    { 'web/a.sh': { beforeHelm: 1 } },
    { runsModulesInParallel: true },
  );
  const view = viewOf(lab);
  lab.behaviours.set('web/a.sh', failing);
  lab.obstacles.set('deploy db', () => gate.promise);
  await lab.converge();
  expect(view.modules()).toMatchObject([
    { module: 'db', status: 'starting', lastError: null },
    { module: 'web', status: 'failing', nextTryAt: '1970-01-01T00:00:05.000Z' },
  ]);
  gate.resolve();
});

test('a failing module says what changed since its last good run, and a good one says nothing', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  const view = viewOf(lab);
  await lab.converge();
  expect(await view.explainModule('web', never)).not.toHaveProperty('changed');
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/replicas', value: 3 }], 'a.sh');
  lab.behaviours.set('web/a.sh', failing);
  lab.operator.router.queueModuleRun(name('web'), 'change');
  await lab.settle();
  const changed = {
    since: expect.stringMatching(/^1970-/),
    run: expect.stringMatching(/^\d+$/),
    version: null,
    files: null,
    values: [{ section: 'web', pointer: '/replicas', before: '', now: '3', source: 'hook a.sh' }],
    moreValues: 0,
    objects: [],
  };
  expect(await view.explainModule('web', never)).toMatchObject({ changed });
  expect(view.module('web')?.changed()).toEqual(changed);
});
