import { expect, test } from 'vitest';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { RestartRequest, restartChangedHooks } from './restart-hooks.ts';

const settings = { restartOnChange: true };
const HOOKS = {
  'web/watch.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }], settings },
  'web/life.sh': { beforeHelm: 1, settings },
  'web/other.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'other' }] },
};

const hang = () => new Promise<void>(() => undefined);

function change(lab: OperatorLab): void {
  const paths = lab.operator.execution.running.all.map(({ hook }) => hook.path);
  restartChangedHooks(lab.operator, new Set(paths));
}

test('a hook whose file changes is run again at once with the same contexts, and nothing has failed', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  for (const hook of ['web/watch.sh', 'web/other.sh']) {
    lab.behaviours.set(hook, hang);
    lab.emit(`${hook}/pods`);
  }
  await lab.settle();
  lab.takeCalls();
  lab.behaviours.clear();
  restartChangedHooks(lab.operator, new Set(['/elsewhere/watch.sh']));
  await lab.settle();
  expect(lab.takeCalls()).toEqual([]);
  change(lab);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/watch.sh Event:pods']);
  expect(lab.tasks('own')).toEqual([]);
  expect(lab.log.records.filter(({ level }) => level === 'error')).toEqual([]);
  // It has not asked for restarts.
  expect(lab.operator.execution.running.all.map(({ labels }) => labels.hook)).toEqual(['other.sh']);
});

test('a module run starts again, when the file of a hook in it changes', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  lab.behaviours.set('web/life.sh', hang);
  await lab.converge();
  lab.takeCalls();
  lab.behaviours.clear();
  change(lab);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/life.sh beforeHelm', 'deploy web']);
  expect(lab.operator.converge.first).toBe('done');
});

test('a restart that waits for the load of the file is shown, and goes on after it', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/watch.sh', hang);
  lab.emit('web/watch.sh/pods');
  await lab.settle();
  lab.takeCalls();
  lab.behaviours.clear();
  const [run] = lab.operator.execution.running.all;
  lab.operator.converge.beginReload();
  run?.abort(new RestartRequest('web/watch.sh', lab.operator.converge.untilReloaded()));
  // The reload in progress may have read the old file.
  lab.operator.converge.endReload();
  await lab.settle();
  expect(lab.takeCalls()).toEqual([]);
  expect(lab.operator.queues.get('own').status.type).toBe('repeating');
  lab.operator.converge.beginReload();
  lab.operator.converge.endReload();
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/watch.sh Event:pods']);
});
