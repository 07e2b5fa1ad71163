import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { scannedChildren } from './escaped-children.ts';
import { killGroupOf } from './marked-processes.ts';
import { isProcessAlive, processStart } from './process-alive.ts';
import { RUN_VARIABLE, runMarker } from './run-marker.ts';

function startSleeper(marker?: string) {
  const env = { PATH: '/usr/bin:/bin', ...(marker !== undefined && { [RUN_VARIABLE]: marker }) };
  const child = spawn('sleep', ['1000'], { env, stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { pid } = child;
  if (pid === undefined) throw new Error('there is no sleep');
  return { pid, exited: once(child, 'exit') };
}

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('killGroupOf() spares a stranger, when the number was used again', async () => {
  const { pid, exited } = startSleeper();
  killGroupOf(pid, '1');
  expect(isProcessAlive(pid)).toBe(true);
  killGroupOf(pid, processStart(pid));
  expect(await exited).toEqual([null, 'SIGKILL']);
  killGroupOf(pid, '1');
});

test.runIf(isLinux)('scannedChildren() ends the group of a marked process with it', async () => {
  const id = crypto.randomUUID();
  const script = 'env -i /bin/sleep 1000 & echo $!; wait';
  const env = { PATH: '/usr/bin:/bin', [RUN_VARIABLE]: runMarker(id, 1) };
  const leader = spawn('/bin/sh', ['-c', script], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  onTestFinished(() => void leader.kill('SIGKILL'));
  await once(leader.stdout, 'data');
  scannedChildren(id, new Map()).endAll();
  // The other process of the group holds the pipe, and has no marker.
  await once(leader.stdout.resume(), 'end');
  expect(leader.stdout.readableEnded).toBe(true);
});

test.runIf(isLinux)('scannedChildren() ends the processes of one run, then those of all', async () => {
  const id = crypto.randomUUID();
  const first = startSleeper(runMarker(id, 1));
  const second = startSleeper(runMarker(id, 2));
  const stranger = startSleeper(runMarker(crypto.randomUUID(), 1));
  const unmarked = startSleeper();
  const children = scannedChildren(id, new Map());
  const reports: unknown[] = [];
  children.endRun(1, 0, (escaped) => reports.push(escaped));
  expect(reports).toEqual([{ count: 1, processes: [{ pid: first.pid, command: 'sleep' }] }]);
  expect(await first.exited).toEqual([null, 'SIGKILL']);
  expect(isProcessAlive(second.pid)).toBe(true);
  children.endAll();
  expect(await second.exited).toEqual([null, 'SIGKILL']);
  const inGroup = startSleeper(runMarker(id, 3));
  children.endRun(3, inGroup.pid, (escaped) => reports.push(escaped));
  expect(await inGroup.exited).toEqual([null, 'SIGKILL']);
  expect(reports.slice(1)).toEqual([undefined]);
  expect([stranger.pid, unmarked.pid].filter((pid) => isProcessAlive(pid))).toHaveLength(2);
});
