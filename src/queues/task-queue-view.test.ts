import { expect, test } from 'vitest';
import { failing, operatorLab } from '../../test/support/operator-lab.ts';
import { taskQueueViews } from './task-queue-view.ts';

test('a queue shows its tasks with what each of them waits for', async () => {
  await using lab = await operatorLab(['web', 'db'], { 'web/a.sh': { beforeHelm: 1 } });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  await lab.clock.advance(2_000);
  lab.pauses.set('db', { reason: 'disks', sinceMs: 0, untilMs: undefined });
  const error = "run hooks by binding beforeHelm: module hook 'a.sh' failed: hook is broken";
  const until = '1970-01-01T00:00:05.000Z';
  const [main] = taskQueueViews(lab.operator, 10);
  expect(main).toMatchObject({
    name: 'main',
    length: 3,
    status: { type: 'delayed', since: '1970-01-01T00:00:00.000Z', until },
  });
  const [first, second, third] = main?.tasks ?? [];
  expect(first).toEqual({
    id: expect.stringMatching(/^main\/\d+$/),
    type: 'ModuleRun',
    module: 'web',
    hook: '',
    binding: '',
    trigger: 'start',
    eventId: '',
    triggeredBy: null,
    queuedAt: '1970-01-01T00:00:00.000Z',
    failures: 1,
    lastError: error,
    lastCode: 'HOOK_FAILED',
    waits: [{ for: 'retry', text: 'the next attempt, after 1 failed', until, ref: null }],
  });
  expect(second?.waits).toEqual([
    { for: 'head', text: 'ModuleRun web in front of it in queue main', until, ref: first?.id },
    { for: 'pause', text: 'module db is paused: disks', until: null, ref: 'db' },
  ]);
  expect(third?.waits).toEqual([
    { for: 'head', text: 'ModuleRun web and 1 more in front of it in queue main', until, ref: first?.id },
  ]);
});

test('a running task waits for nothing, unless the rate limit of its hook holds it back', async () => {
  const gate = Promise.withResolvers<void>();
  const settings = { executionMinInterval: '10s', executionBurst: 1 };
  await using lab = await operatorLab(['web'], {
    'web/slow.sh': { schedule: [{ crontab: '* * * * *', queue: 'slow' }], settings },
  });
  await lab.converge();
  lab.behaviours.set('web/slow.sh', () => gate.promise);
  const tasks = () => taskQueueViews(lab.operator, 10).find((queue) => queue.name === 'slow');
  lab.tick('web/slow.sh');
  await lab.settle();
  expect(tasks()).toMatchObject({ status: { type: 'running', until: null }, tasks: [{ waits: [] }] });
  gate.resolve();
  await lab.settle();
  expect(tasks()).toMatchObject({ length: 0, status: { type: 'waiting' } });
  lab.tick('web/slow.sh');
  await lab.settle();
  expect(tasks()).toMatchObject({
    tasks: [{ waits: [{ for: 'rate', text: 'the rate limit of hook slow.sh' }] }],
  });
});

test('a module run says that it waits for the first runs of its hooks', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', waitForSynchronization: true }] },
  });
  lab.behaviours.set('web/a.sh', () => gate.promise);
  await lab.converge();
  const [main] = taskQueueViews(lab.operator, 1);
  expect(main).toMatchObject({
    status: { type: 'repeating' },
    length: 2,
    tasks: [{ type: 'ModuleRun', waits: [{ for: 'synchronization', ref: 'web' }] }],
  });
  expect(main?.tasks).toHaveLength(1);
  gate.resolve();
  await lab.settle();
});
