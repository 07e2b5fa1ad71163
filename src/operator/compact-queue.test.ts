import { expect, test } from 'vitest';
import { failing, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { crowdsIn } from './compact-queue.ts';

const HOOKS = {
  'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  'web/b.sh': {
    kubernetes: [
      { kind: 'Pod', name: 'plain', queue: 'own' },
      { kind: 'Node', name: 'one', queue: 'own', group: 'g' },
      { kind: 'Secret', name: 'other', queue: 'own', group: 'g', allowFailure: false },
    ],
  },
  'web/c.sh': { kubernetes: [{ kind: 'Pod', name: 'soft', queue: 'own', allowFailure: true }] },
};

/** A queue whose head fails. */
async function heldUp(): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.takeCalls();
  return lab;
}

function emit(lab: OperatorLab, binding: string, count: number): void {
  for (let index = 0; index < count; index += 1) lab.emit(binding);
}

test('runs of one hook become one when they fill a queue that is held up', async () => {
  await using lab = await heldUp();
  emit(lab, 'web/b.sh/one', 3);
  emit(lab, 'web/a.sh/pods', 2);
  emit(lab, 'web/b.sh/plain', 94);
  expect(lab.tasks('own')).toHaveLength(100);
  emit(lab, 'web/b.sh/other', 3);
  expect(lab.tasks('own')).toHaveLength(103);
  emit(lab, 'web/b.sh/plain', 98);
  expect(lab.tasks('own')).toEqual([
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:b.sh:other,plain in 193 contexts:Kubernetes',
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
  ]);
});

test('runs whose failure is allowed stay apart from those whose is not', async () => {
  await using lab = await heldUp();
  emit(lab, 'web/c.sh/soft', 100);
  emit(lab, 'web/b.sh/plain', 100);
  expect(lab.tasks('own')).toEqual([
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:c.sh:soft in 100 contexts:Kubernetes',
    ...Array.from({ length: 99 }, () => 'ModuleHookRun:web:kubernetes:b.sh:plain:Kubernetes'),
    'ModuleHookRun:web:kubernetes:b.sh:plain:Kubernetes',
  ]);
});

test('crowdsIn() counts the tasks of hooks that have many', async () => {
  await using lab = await heldUp();
  emit(lab, 'web/b.sh/plain', 30);
  const queue = lab.operator.queues.get('own');
  expect([...crowdsIn([queue], 20)]).toEqual([['b.sh', 30]]);
  expect([...crowdsIn([queue], 30)]).toEqual([]);
});
