import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { refusal } from '../../test/support/fake-kube-api.ts';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { startUp } from '../operator/lifecycle.ts';
import { staleBindings } from '../queues/binding-problems.ts';
import { canWaitAside, isRefusal } from './refused-hooks.ts';

const PODS = [{ kind: 'Pod', name: 'pods' }];

async function start(lab: OperatorLab): Promise<void> {
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  await lab.settle();
}

function refuse(lab: OperatorLab, binding: string): void {
  lab.obstacles.set(`monitor ${binding}`, () => {
    throw refusal(403, 'Forbidden');
  });
}

test('FAULT-A16: main goes on without a global hook, when a binding of it is refused, and the hook runs once it is permitted', async () => {
  await using lab = await operatorLab(['web'], {
    'global/a.sh': { beforeAll: 1, kubernetes: PODS },
    'global/b.sh': { beforeAll: 2, kubernetes: [{ kind: 'Node', name: 'nodes' }] },
  });
  refuse(lab, 'global/a.sh/pods');
  await start(lab);
  expect(lab.calls).toEqual([
    'monitor global/a.sh/pods',
    'monitor global/b.sh/nodes',
    'global/b.sh Synchronization:nodes',
    'global/b.sh beforeAll',
    'discover',
    'config web',
    'deploy web',
  ]);
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.tasks('refused_a.sh')).toEqual(['GlobalHookEnableKubernetesBindings::a.sh:Operator-Startup']);
  lab.calls.splice(0);
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['monitor global/a.sh/pods']);
  lab.obstacles.clear();
  await lab.clock.advance(30_000);
  await lab.settle();
  expect(lab.calls.slice(1, 5)).toEqual([
    'monitor global/a.sh/pods',
    'global/a.sh Synchronization:pods',
    'global/a.sh beforeAll',
    'global/b.sh beforeAll',
  ]);
  expect(lab.tasks('refused_a.sh')).toEqual([]);
});

test('a global hook that waits for a permission is not run by its schedules', async () => {
  await using lab = await operatorLab([], {
    'global/a.sh': { schedule: [{ crontab: '* * * * *', name: 'tick' }], kubernetes: PODS },
  });
  refuse(lab, 'global/a.sh/pods');
  await start(lab);
  const runtime = lab.runtimeOf('global/a.sh');
  const [schedule] = runtime.hook.config.schedule;
  if (schedule === undefined) throw new Error('the hook has no schedule');
  const tick = async (): Promise<void> => {
    lab.operator.router.onScheduleTick(runtime, schedule);
    await lab.settle();
  };
  await tick();
  expect(lab.calls).toEqual(['monitor global/a.sh/pods', 'discover']);
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  await tick();
  expect(lab.calls.slice(2)).toEqual([
    'monitor global/a.sh/pods',
    'global/a.sh Synchronization:pods',
    'global/a.sh Schedule:tick',
  ]);
});

test('a refused binding is reported with its hook and the response of the API server', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { kubernetes: PODS } });
  refuse(lab, 'global/a.sh/pods');
  await start(lab);
  expect(staleBindings(lab.operator.globalHooks.runtimes, lab.clock).map(({ text }) => text)).toEqual([
    "global hook 'a.sh', kubernetes binding 'pods' has no snapshot: refused: Forbidden; the hook does not run until then",
  ]);
});

test('main waits for a global hook that is refused, when it may be there to prevent deploys', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { beforeInstall: 1, kubernetes: PODS } });
  refuse(lab, 'global/a.sh/pods');
  await start(lab);
  expect(canWaitAside(lab.runtimeOf('global/a.sh'))).toBe(false);
  expect(lab.main.entries[0]?.lastError).toContain('Forbidden');
});

test.each([
  [refusal(403, 'Forbidden'), true],
  [new OperatorError('KUBE_API', 'place', { cause: refusal(403, 'Forbidden') }), true],
  [refusal(404, 'NotFound'), false],
  [new OperatorError('KUBE_KIND_UNKNOWN', 'no such kind'), false],
])('isRefusal() of %s is %s', (error, expected) => {
  expect(isRefusal(error)).toBe(expected);
});
