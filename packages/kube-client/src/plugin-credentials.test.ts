import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { loadPluginCredentials } from './plugin-credentials.ts';

const signal = new AbortController().signal;

/** A user whose plug-in is a line of shell. */
function execUser(script: string) {
  return {
    name: 'joe',
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: ['-c', script],
      env: [{ name: 'GREETING', value: 'hello' }],
    },
  };
}

const reply = (status: string): string =>
  `printf '{"kind":"ExecCredential","status":%s}' "${status.replaceAll('"', '\\"')}"`;

test('loadPluginCredentials() runs the exec plug-in with its environment', async () => {
  const plugin = await loadPluginCredentials(
    execUser(reply('{"token":"$GREETING-${#KUBERNETES_EXEC_INFO}"}')),
    new FakeClock(),
  );
  expect(await plugin(false, signal)).toEqual({
    authorization: expect.stringMatching(/^Bearer hello-\d\d+$/),
  });
});

test('loadPluginCredentials() takes a client certificate', async () => {
  const status = '{"clientCertificateData":"CERT","clientKeyData":"KEY"}';
  const plugin = await loadPluginCredentials(execUser(reply(status)), new FakeClock());
  expect(await plugin(false, signal)).toEqual({ cert: 'CERT', key: 'KEY' });
});

test('loadPluginCredentials() keeps a token until it is refused', async () => {
  const plugin = await loadPluginCredentials(execUser(reply('{"token":"$$"}')), new FakeClock());
  const first = await plugin(false, signal);
  expect(await plugin(false, signal)).toEqual(first);
  expect(await plugin(true, signal)).not.toEqual(first);
});

test('loadPluginCredentials() names the user, and shows nothing of what a failed plug-in printed', async () => {
  const plugin = await loadPluginCredentials(execUser('echo canary >&2; exit 1'), new FakeClock());
  const failing = plugin(false, signal);
  await expect(failing).rejects.toThrow('user "joe" from its exec plug-in');
  await expect(failing).rejects.not.toThrow(/canary/);
});

test('loadPluginCredentials() gives a plug-in 60 s', async () => {
  const clock = new FakeClock();
  const plugin = await loadPluginCredentials(execUser('read -r line'), clock);
  const asking = plugin(false, signal);
  asking.catch(() => undefined);
  await clock.untilAsleep();
  await clock.advance(60_000);
  await expect(asking).rejects.toThrow('no response within 60 s');
});
