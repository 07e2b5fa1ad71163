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
  'web/c.sh': {
    kubernetes: [
      { kind: 'Pod', name: 'soft', queue: 'own', allowFailure: true },
      { kind: 'Pod', name: 'hard', queue: 'own' },
    ],
  },
  'web/d.sh': { kubernetes: [{ kind: 'Pod', name: 'latest', queue: 'own', coalesce: 'object' }] },
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

test('runs of one hook whose failure is allowed stay apart from those whose is not', async () => {
  await using lab = await heldUp();
  for (let index = 0; index < 100; index += 1) {
    lab.emit('web/c.sh/soft');
    lab.emit('web/c.sh/hard');
  }
  expect(lab.tasks('own')).toEqual([
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:c.sh:soft in 100 contexts:Kubernetes',
    'ModuleHookRun:web:kubernetes:c.sh:hard in 100 contexts:Kubernetes',
  ]);
});

test('a failure that is allowed loses no event of the same hook whose failure is not', async () => {
  await using lab = await heldUp();
  for (let index = 0; index < 100; index += 1) {
    lab.emit('web/c.sh/soft');
    lab.emit('web/c.sh/hard');
  }
  const given: string[] = [];
  lab.behaviours.delete('web/a.sh');
  lab.behaviours.set('web/c.sh', ({ contexts }) => {
    given.push(`${contexts[0]?.binding} ${contexts.length}`);
    if (given.length <= 2) throw new Error('hook is broken');
  });
  await lab.pass(30_000, 4);
  expect(given).toEqual(['soft 100', 'hard 100', 'hard 100']);
  expect(lab.tasks('own')).toEqual([]);
});

test('the deletion of an object that a failed run was given stays, when another task runs before the next attempt', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  const queue = lab.operator.queues.get('own');
  lab.behaviours.set('web/d.sh', failing);
  lab.emit('web/d.sh/latest', 'Added');
  await lab.settle();
  const urgent = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', () => urgent.promise);
  lab.emit('web/a.sh/pods');
  queue.prepend(...queue.remove((_task, index) => index === 1));
  await lab.pass(30_000, 1);
  lab.emit('web/d.sh/latest', 'Deleted');
  const other = { watchEvent: 'Added', key: '/other', item: {} } as const;
  for (let index = 0; index < 98; index += 1) lab.monitors.get('web/d.sh/latest')?.emit(other);
  expect(lab.tasks('own')).toEqual([
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:d.sh:latest in 100 contexts:Kubernetes',
  ]);
  const given: unknown[] = [];
  lab.behaviours.set('web/d.sh', ({ contexts }) => {
    given.push(contexts[0]?.['watchEvent'], contexts.length);
  });
  urgent.resolve();
  await lab.pass(30_000, 1);
  expect(given).toEqual(['Deleted', 99]);
});

test('a Synchronization stays apart from the events behind it', async () => {
  await using lab = await heldUp();
  const runtime = lab.runtimeOf('web/b.sh');
  const plain = runtime.hook.config.kubernetes.find(({ name }) => name === 'plain');
  if (plain === undefined) throw new Error('no such binding');
  lab.operator.queues.get('own').append(lab.operator.router.synchronizationRun(runtime, plain, ''));
  emit(lab, 'web/b.sh/plain', 199);
  expect(lab.tasks('own')).toEqual([
    'ModuleHookRun:web:kubernetes:a.sh:pods:Kubernetes',
    'ModuleHookRun:web:kubernetes:b.sh:plain:Synchronization',
    'ModuleHookRun:web:kubernetes:b.sh:plain in 199 contexts:Kubernetes',
  ]);
});

test('events that come during a run of the hook are combined, and those of the run stay with it', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  const given: number[] = [];
  const run = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', async ({ contexts }) => {
    given.push(contexts.length);
    if (given.length > 1) return;
    await run.promise;
    throw new Error('hook is broken');
  });
  lab.emit('web/a.sh/pods');
  await lab.settle();
  emit(lab, 'web/a.sh/pods', 100);
  expect(lab.tasks('own')).toHaveLength(2);
  run.resolve();
  await lab.pass(30_000, 2);
  expect(given.at(-1)).toBe(101);
});

test('crowdsIn() counts the tasks of hooks that have many', async () => {
  await using lab = await heldUp();
  emit(lab, 'web/b.sh/plain', 30);
  const queue = lab.operator.queues.get('own');
  expect([...crowdsIn([queue], 20)]).toEqual([['b.sh', 30]]);
  expect([...crowdsIn([queue], 30)]).toEqual([]);
});
