import { expect, test } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { createView } from './operator-view.ts';

type Helm = Parameters<typeof createView>[0]['helm'];

function viewOf(lab: OperatorLab): DaemonView {
  const helm: Pick<Helm, 'render'> & { readonly monitors: Pick<Helm['monitors'], 'resources'> } = {
    render: async ({ module, values }) => `# ${module.name} ${JSON.stringify(values)}`,
    monitors: { resources: (module) => (module === 'web' ? ['n/Pod/p'] : undefined) },
  };
  return createView({
    operator: lab.operator,
    clock: lab.clock,
    helm: helm as Helm,
    live: {
      kube: { request: () => Promise.reject(new Error('no cluster here')) },
      find: () => Promise.reject(new Error('no cluster here')),
      namespace: 'n',
    },
    patcherAccess: () => [],
  });
}

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
  expect(await view.monitoredResources(never)).toEqual({ web: ['n/Pod/p'], db: undefined });
});
