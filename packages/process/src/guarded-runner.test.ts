import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { guardedRunner } from './guarded-runner.ts';
import type { ProcessResult, ProcessRunner, ProcessSpec } from './process-runner.ts';

const RESULT: ProcessResult = {
  outcome: { type: 'exited', exitCode: 0 },
  stdout: '',
  stderr: '',
  isStdoutTruncated: false,
  durationMs: 1,
};
const SPEC: ProcessSpec = { file: '/bin/hook', args: [], cwd: '/', env: {}, graceMs: 0 };
const never = new AbortController().signal;

test('guardedRunner() starts no process once the daemon stops, and lets running ones finish', async () => {
  const stop = new AbortController();
  const gate = Promise.withResolvers<ProcessResult>();
  const runner: ProcessRunner = { run: () => gate.promise };
  const guarded = guardedRunner(runner, stop.signal);
  const running = guarded.run(SPEC, never);
  stop.abort();
  await expect(guarded.run(SPEC, never)).rejects.toMatchObject({
    code: 'ABORTED',
    message: '/bin/hook is not started: the daemon is stopping',
  });
  gate.resolve(RESULT);
  expect(await running).toBe(RESULT);
});

test('guardedRunner() starts what a client waits for while the daemon stops', async () => {
  const runner: ProcessRunner = { run: () => Promise.resolve(RESULT) };
  const guarded = guardedRunner(runner, AbortSignal.abort());
  expect(await guarded.run({ ...SPEC, isAwaited: true }, never)).toBe(RESULT);
});

test('guardedRunner() starts no process that its check refuses', async () => {
  const runner: ProcessRunner = { run: () => Promise.resolve(RESULT) };
  const check = (): void => {
    throw new OperatorError('LEASE_LOST', 'no lease');
  };
  const guarded = guardedRunner(runner, never, check);
  await expect(guarded.run(SPEC, never)).rejects.toMatchObject({ code: 'LEASE_LOST' });
});
