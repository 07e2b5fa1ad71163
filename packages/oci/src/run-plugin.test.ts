import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { pluginRunner } from './run-plugin.ts';

const { signal } = new AbortController();
const env = { PATH: process.env['PATH'], ACCOUNT: 'me' };

test('a plug-in gets its input and the environment, and nothing of its stderr is returned', async () => {
  const script = 'read line; echo "$line of $ACCOUNT"; echo secret >&2; exit 3';
  expect(await pluginRunner(systemClock, env)('sh', ['-c', script], 'input\n', signal)).toEqual({
    exitCode: 3,
    stdout: 'input of me\n',
  });
});

test('a plug-in that reads nothing is no failure', async () => {
  const input = 'x'.repeat(1_000_000);
  expect(await pluginRunner(systemClock, env)('true', [], input, signal)).toEqual({
    exitCode: 0,
    stdout: '',
  });
});

test('a plug-in that does not exist is named', async () => {
  await expect(
    pluginRunner(systemClock, env)('docker-credential-none', [], '', signal),
  ).rejects.toMatchObject({
    code: 'REGISTRY_REFUSED',
    message: expect.stringMatching(
      /^Cannot get credentials from docker-credential-none: it cannot be run: .*ENOENT/,
    ),
  });
});

test('a plug-in that does not end is killed after a minute', async () => {
  const clock = new FakeClock();
  const run = pluginRunner(clock, env)('sh', ['-c', 'exec sleep 600'], '', signal).catch(
    (error: unknown) => error,
  );
  await clock.untilAsleep();
  await clock.advance(60_000);
  expect(await run).toMatchObject({ message: 'Cannot get credentials from sh: it did not end within 60 s' });
});
