import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView } from '../../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ModuleExplanation } from '../../status/module-explanation.ts';
import { runCli } from '../run-cli.ts';

async function wait(states: readonly (string | Partial<ModuleExplanation>)[], ...args: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'wait-'));
  const left = [...states];
  const explainModule = async () => {
    const state = left.length > 1 ? left.shift() : left[0];
    return {
      reason: 'because',
      waitsFor: ['a task in front of it'],
      failure: null,
      ...(typeof state === 'string' ? { status: state } : state),
    } as unknown as ModuleExplanation;
  };
  const path = join(directory, 'debug.socket');
  const server = await startDebugEndpoint(path, { view: daemonView({ explainModule }) });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  const clock = new FakeClock();
  const [out, err]: [string[], string[]] = [[], []];
  const done = new AbortController();
  const running = runCli(['wait', 'module', 'web', '--debug-unix-socket', path, ...args], {
    env: {},
    cwd: directory,
    clock,
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stopSignal: () => new AbortController().signal,
  }).finally(() => done.abort());
  while (!done.signal.aborted) await clock.advance(100);
  return { exitCode: await running, out: out.join(''), err: err.join('') };
}

test('wait module ends when the module has the status', async () => {
  expect(await wait(['starting', 'starting', 'ready'])).toEqual({
    exitCode: 0,
    out: 'module web is ready\n',
    err: '',
  });
  expect(await wait(['disabled'], '--for', 'disabled')).toMatchObject({ exitCode: 0 });
});

test('wait module says what is in the way when the time is over', async () => {
  expect(await wait(['starting'], '--timeout', '3s')).toEqual({
    exitCode: 1,
    out: '',
    err: 'error: module web is not ready in time: it is starting: it waits for a task in front of it\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
  });
});

test('wait module refuses a time that is none', async () => {
  expect(await wait(['ready'], '--timeout', 'soon')).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('cannot read the duration "soon"') as string,
  });
});

test('the code of a wait is that of the error in the way of the module', async () => {
  const failure = {
    error: 'no disk',
    code: 'HELM_FAILED',
    attempts: 1,
    nextAttemptAt: null,
    isGivenUp: false,
  } as const;
  expect((await wait([{ status: 'failing', failure }], '--timeout', '1s')).err).toBe(
    'error: module web is not ready in time: it is failing: no disk\nCode: HELM_FAILED, explained in docs/errors.md\n',
  );
});
