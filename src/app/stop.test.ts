import { expect, test } from 'vitest';
import { daemonHost } from '../../test/support/daemon-host.ts';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { stopDaemon } from './stop.ts';

const GRACE_MS = 30_000;

/** A daemon whose only hook runs until it is released or stopped. */
async function runningHook() {
  const lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1, afterHelm: 1 } });
  const gate = Promise.withResolvers<void>();
  lab.abort.signal.addEventListener('abort', () => gate.reject(lab.abort.signal.reason));
  lab.behaviours.set('web/a.sh', ({ contexts }) =>
    contexts[0]?.binding === 'beforeHelm' ? gate.promise : undefined,
  );
  await lab.converge();
  lab.takeCalls();
  return { lab, finish: gate.resolve };
}

async function stop(lab: OperatorLab) {
  const host = daemonHost(lab.clock);
  const running = new AsyncDisposableStack();
  let isDisposed = false;
  running.defer(() => {
    isDisposed = true;
  });
  const stopped = stopDaemon({ shutdownGraceMs: GRACE_MS }, host, lab.operator.queues, {
    running,
    stop: lab.stop,
    abort: lab.abort,
  });
  await lab.settle();
  return { host, stopped, isDisposed: () => isDisposed };
}

test('a hook that ends within the grace is let finish, and nothing new begins', async () => {
  const { lab, finish } = await runningHook();
  const { host, stopped, isDisposed } = await stop(lab);
  await lab.clock.advance(GRACE_MS - 1);
  expect([lab.abort.signal.aborted, isDisposed()]).toEqual([false, false]);
  finish();
  await stopped;
  expect(isDisposed()).toBe(true);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
  expect(host.captured.records.map(({ msg }) => msg)).toEqual([
    'stopping: waiting for running hooks and helm',
    'shutdown is done',
  ]);
  await lab[Symbol.asyncDispose]();
});

test('a hook that runs longer than the grace receives SIGTERM', async () => {
  const { lab } = await runningHook();
  const { host, stopped, isDisposed } = await stop(lab);
  await lab.clock.advance(GRACE_MS);
  await stopped;
  expect([lab.abort.signal.aborted, isDisposed()]).toEqual([true, true]);
  expect(host.captured.records.map(({ level }) => level)).toEqual(['info', 'warn', 'info']);
  expect(lab.log.records.filter(({ level }) => level === 'error')).toEqual([]);
  await lab[Symbol.asyncDispose]();
});

test('an idle daemon stops at once', async () => {
  await using lab = await operatorLab([]);
  await lab.converge();
  const { stopped, isDisposed } = await stop(lab);
  await stopped;
  expect(isDisposed()).toBe(true);
});
