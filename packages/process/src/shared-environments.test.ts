import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { startLauncher } from './launcher.ts';
import { FRAME_HEADER_BYTES, FRAME_KINDS } from './launcher-protocol.ts';
import { SharedEnvironments } from './shared-environments.ts';

function sent() {
  const frames: { readonly kind: number | undefined; readonly number: number; readonly entries: unknown }[] =
    [];
  const environments = new SharedEnvironments((frame) => {
    const entries = JSON.parse(frame.toString('utf8', FRAME_HEADER_BYTES));
    frames.push({ kind: frame[4], number: frame.readUInt32LE(5), entries });
  });
  return { environments, frames };
}

test('an environment is sent once, as the kernel wants it', () => {
  const { environments, frames } = sent();
  const environment = { PATH: '/bin', EMPTY: '' };
  expect([environments.numberOf(environment), environments.numberOf(environment)]).toEqual([0, 0]);
  expect(frames).toEqual([{ kind: FRAME_KINDS.environment, number: 0, entries: ['PATH=/bin', 'EMPTY='] }]);
});

test('the one that was sent first is replaced by the seventeenth, and sent again when it is used again', () => {
  const { environments, frames } = sent();
  const all = Array.from({ length: 17 }, (_, index) => ({ INDEX: String(index) }));
  const numbers = all.map((environment) => environments.numberOf(environment));
  expect(numbers).toEqual([...Array.from({ length: 16 }, (_, index) => index), 0]);
  expect(environments.numberOf(all[0] ?? {})).toBe(1);
  expect(frames).toHaveLength(18);
});

test('run() adds a shared environment, in which the own variables of a run win', async () => {
  const sharedEnv = { PATH: '/usr/bin:/bin', NAME: 'shared', OTHER: 'shared' };
  const script = 'echo "$NAME $OTHER $OWN"; env | grep -c ^NAME=';
  const outputs: string[] = [];
  const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
  for (const env of [{ OWN: 'one' }, { OWN: 'two', NAME: 'own' }, {}] as const) {
    const spec = {
      file: '/bin/sh',
      args: ['-c', script],
      cwd: '/',
      env,
      sharedEnv,
      graceMs: 1_000,
      captureStdoutBytes: 1_000,
    };
    outputs.push((await launcher.run(spec, new AbortController().signal)).stdout);
  }
  await launcher.stop();
  expect(outputs).toEqual(['shared shared one\n1\n', 'own shared two\n1\n', 'shared shared \n1\n']);
});
