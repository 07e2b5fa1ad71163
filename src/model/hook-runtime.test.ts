import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { failing, hookFor, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { type HookRuntime, startMonitors } from './hook-runtime.ts';

const never = new AbortController().signal;
const QUEUE = 'own';

async function harness(): Promise<{ lab: OperatorLab; runtime: HookRuntime }> {
  const lab = await operatorLab([]);
  const hook = await hookFor('global/a.sh', {
    kubernetes: ['one', 'two'].map((name) => ({ kind: 'Pod', name, queue: QUEUE })),
    settings: { executionMinInterval: '3s', executionBurst: 1 },
  });
  return { lab, runtime: lab.operator.bindings.createRuntime(hook) };
}

test('startMonitors() starts each monitor once, in configuration order', async () => {
  const { lab, runtime } = await harness();
  await runtime.startMonitors(never);
  await runtime.startMonitors(never);
  expect(lab.calls).toEqual(['monitor global/a.sh/one', 'monitor global/a.sh/two']);
  expect([runtime.isMonitored(0), runtime.isMonitored(1), runtime.isMonitored(2)]).toEqual([
    true,
    true,
    false,
  ]);
});

test('startMonitors() goes on behind the monitors that started before a failure', async () => {
  const { lab, runtime } = await harness();
  lab.obstacles.set('monitor global/a.sh/two', failing as () => void);
  await expect(runtime.startMonitors(never)).rejects.toThrow('hook is broken');
  expect([runtime.isMonitored(0), runtime.isMonitored(1)]).toEqual([true, false]);
  expect(lab.monitors.get('global/a.sh/two')?.isStopped).toBe(true);
  lab.obstacles.clear();
  lab.takeCalls();
  await runtime.startMonitors(never);
  expect(lab.calls).toEqual(['monitor global/a.sh/two']);
});

test('startMonitors() of several hooks does not wait for one before it starts the next', async () => {
  const lab = await operatorLab([]);
  const kubernetes = [{ kind: 'Pod', name: 'pods' }];
  const runtimes = await Promise.all(
    ['a', 'b', 'c'].map(async (name) =>
      lab.operator.bindings.createRuntime(await hookFor(`global/${name}.sh`, { kubernetes })),
    ),
  );
  const gate = Promise.withResolvers<void>();
  lab.obstacles.set('monitor global/a.sh/pods', () => gate.promise);
  for (const name of ['b', 'c']) lab.obstacles.set(`monitor global/${name}.sh/pods`, failing as () => void);
  let isSettled = false;
  const started = startMonitors(runtimes, never).finally(() => {
    isSettled = true;
  });
  const failure = started.catch((error: unknown) => error);
  await lab.settle();
  expect(lab.calls).toEqual(['a', 'b', 'c'].map((name) => `monitor global/${name}.sh/pods`));
  expect(isSettled).toBe(false);
  gate.resolve();
  expect(await failure).toBeInstanceOf(Error);
  expect(runtimes.map((runtime) => runtime.isMonitored(0))).toEqual([true, false, false]);
});

test('a monitor that cannot start is reported with its hook and binding', async () => {
  const { lab, runtime } = await harness();
  lab.obstacles.set('monitor global/a.sh/two', () => {
    throw new OperatorError('KUBE_KIND_UNKNOWN', 'no such kind');
  });
  await expect(runtime.startMonitors(never)).rejects.toMatchObject({
    code: 'KUBE_KIND_UNKNOWN',
    message: "global hook 'a.sh', kubernetes binding 'two': no such kind",
  });
});

test('a snapshot is empty until its monitor runs, for runs and for onlookers', async () => {
  const { lab, runtime } = await harness();
  expect([runtime.snapshot(0), runtime.peek(0)]).toEqual([[], []]);
  await runtime.startMonitors(never);
  const monitor = lab.monitors.get('global/a.sh/one');
  if (monitor === undefined) throw new Error('no monitor');
  monitor.items = [{ filterResult: 1 }];
  expect([runtime.snapshot(0), runtime.peek(0)]).toEqual([[{ filterResult: 1 }], [{ filterResult: 1 }]]);
  runtime.unlock([0]);
  expect(monitor.isUnlocked).toBe(true);
  expect(lab.monitors.get('global/a.sh/two')?.isUnlocked).toBe(false);
});

test('stop() ends the monitors, and no event gets through afterwards', async () => {
  const { lab, runtime } = await harness();
  await runtime.startMonitors(never);
  runtime.unlock([0, 1]);
  lab.emit('global/a.sh/one');
  expect(lab.tasks(QUEUE)).toHaveLength(1);
  runtime.enableSchedules(true);
  await runtime.stop();
  lab.emit('global/a.sh/one');
  expect(lab.tasks(QUEUE)).toHaveLength(1);
  expect(runtime).toMatchObject({ isStopped: true, areSchedulesEnabled: false });
  expect([...lab.monitors.values()].every((monitor) => monitor.isStopped)).toBe(true);
  expect(runtime.isMonitored(0)).toBe(false);
});

test('startMonitors() leaves no monitor behind, when the hook is stopped during the call', async () => {
  const { lab, runtime } = await harness();
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.obstacles.set('monitor global/a.sh/one', () => promise);
  const started = runtime.startMonitors(never);
  await runtime.stop();
  resolve();
  await started;
  expect(lab.calls).toEqual(['monitor global/a.sh/one']);
  expect(lab.monitors.get('global/a.sh/one')?.isStopped).toBe(true);
});

test('a hook waits for its turn only if it has a rate limit', async () => {
  const { lab, runtime } = await harness();
  const plain = lab.operator.bindings.createRuntime(await hookFor('global/b.sh', { onStartup: 1 }));
  for (let run = 0; run < 3; run += 1) await plain.waitForTurn(never);
  await runtime.waitForTurn(never);
  const turn = runtime.waitForTurn(never);
  expect(await Promise.race([turn, Promise.resolve('waits')])).toBe('waits');
  await lab.clock.advance(3_000);
  await turn;
});

test('a wait for the rate limit ends when the hook is stopped, when the daemon stops and on abort', async () => {
  const { lab, runtime } = await harness();
  await runtime.waitForTurn(never);
  const abort = new AbortController();
  const aborted = runtime.waitForTurn(abort.signal);
  abort.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const removed = runtime.waitForTurn(never);
  await runtime.stop();
  await removed;
  const other = lab.operator.bindings.createRuntime(runtime.hook);
  await other.waitForTurn(never);
  const stopping = other.waitForTurn(never);
  lab.stop.abort(new Error('stopping'));
  await expect(stopping).rejects.toThrow('stopping');
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});
