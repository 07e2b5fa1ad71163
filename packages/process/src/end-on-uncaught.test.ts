import { EventEmitter } from 'node:events';
import { withRedactedLog } from '@addon-operator/logging/redacted-log';
import { expect, test } from 'vitest';
import { daemonHost } from '../../../test/support/daemon-host.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import { endOnUncaught } from './end-on-uncaught.ts';

function uncaughtHarness() {
  const done: string[] = [];
  const process = Object.assign(new EventEmitter(), {
    exit: (code: number) => void done.push(`exit ${code}`),
  });
  const given = daemonHost();
  const { host, redactor } = withRedactedLog({ ...given, process });
  redactor.add('hunter2');
  const running = new AsyncDisposableStack();
  endOnUncaught(host, running, () => void done.push('nothing starts'));
  return { ...given, process, running, done };
}

test.each(['uncaughtException', 'unhandledRejection'])(
  'FAULT-D7: an %s is logged once and without secrets, and everything ends before the process exits with 1',
  async (event) => {
    const { process, running, done, captured } = uncaughtHarness();
    running.defer(() => void done.push('lease released'));
    running.defer(() => void done.push('hooks ended'));
    process.emit(event, new Error('token hunter2 is wrong'));
    process.emit(event, new Error('another one'));
    await settle();
    expect(done).toEqual(['nothing starts', 'hooks ended', 'lease released', 'exit 1']);
    expect(captured.records.map(({ level, error }) => ({ level, error }))).toEqual([
      { level: 'fatal', error: expect.stringMatching(/^token (?!.*hunter2).* is wrong$/) },
    ]);
  },
);

test('FAULT-D7: the process exits after 10 s, when what has to end hangs', async () => {
  const { process, running, done, clock } = uncaughtHarness();
  running.defer(() => new Promise(() => undefined));
  process.emit('unhandledRejection', 'no error at all');
  await clock.advance(9_999);
  expect(done).toEqual(['nothing starts']);
  await clock.advance(1);
  expect(done).toEqual(['nothing starts', 'exit 1']);
});

test('FAULT-D7: the process exits with 1, when something cannot be ended', async () => {
  const { process, running, done } = uncaughtHarness();
  running.defer(() => Promise.reject(new Error('no')));
  process.emit('uncaughtException', new Error('boom'));
  await settle();
  expect(done.at(-1)).toBe('exit 1');
});

test('a daemon that has ended listens to no errors of the process', async () => {
  const { process, running } = uncaughtHarness();
  await running.disposeAsync();
  expect(process.eventNames()).toEqual([]);
});
