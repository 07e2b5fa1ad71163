import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Launcher, startLauncher } from './launcher.ts';
import type { ProcessSpec } from './process-runner.ts';

let directory = '';
const never = new AbortController().signal;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'launcher-deadline-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function start(onDeadlinePassed?: () => void): Promise<Launcher> {
  const launcher = await startLauncher({
    log: silentLogger,
    clock: systemClock,
    ...(onDeadlinePassed === undefined ? {} : { onDeadlinePassed }),
  });
  onTestFinished(() => launcher.stop());
  return launcher;
}

/** A script that ends only by a signal; `prints` gets its lines. */
function shell(script: string, prints: string[] = [], onLine?: (line: string) => void): ProcessSpec {
  return {
    file: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    env: { PATH: '/usr/bin:/bin' },
    graceMs: 60_000,
    onLine: (stream, line) => {
      if (stream === 'stderr') return;
      prints.push(line);
      onLine?.(line);
    },
  };
}

/** Runs a script until it has printed `ready`. */
async function running(launcher: Launcher, script: string, prints: string[] = []) {
  const ready = Promise.withResolvers<void>();
  const ended = launcher.run(
    shell(script, prints, (line) => {
      if (line === 'ready') ready.resolve();
    }),
    never,
  );
  await Promise.race([ready.promise, ended]);
  return { ended };
}

/** The steady clocks of two processes are equal to this much: each reads the time since the boot to 10 ms. */
const CLOCKS_DIFFER_MS = 10;

test('setDeadline() ends all groups when it passes, and nothing is started any more', async () => {
  const passed = Promise.withResolvers<void>();
  const launcher = await start(() => passed.resolve());
  const prints: string[] = [];
  const polite = await running(
    launcher,
    'trap "echo told; exit 3" TERM; echo ready; while :; do sleep 0.05; done',
    prints,
  );
  const stubborn = await running(launcher, 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
  const now = systemClock.steadyMs();
  launcher.setDeadline({ termAtMs: now + 100, killAtMs: now + 2_000 });
  await passed.promise;
  expect(systemClock.steadyMs()).toBeGreaterThanOrEqual(now + 100 - CLOCKS_DIFFER_MS);
  expect(await polite.ended).toMatchObject({ outcome: { type: 'exited', exitCode: 3 } });
  expect(prints).toEqual(['ready', 'told']);
  expect(await stubborn.ended).toMatchObject({ outcome: { type: 'signalled', signal: 'SIGKILL' } });
  expect(systemClock.steadyMs()).toBeGreaterThanOrEqual(now + 2_000 - CLOCKS_DIFFER_MS);
  launcher.setDeadline({ termAtMs: now + 60_000, killAtMs: now + 60_000 });
  await expect(launcher.run(shell('echo late'), never)).rejects.toThrow('the deadline that the daemon set');
});

test('setDeadline() with a later moment, in time, lets processes live on', async () => {
  const launcher = await start();
  for (let round = 0; round < 3; round += 1) {
    const now = systemClock.steadyMs();
    launcher.setDeadline({ termAtMs: now + 10_000, killAtMs: now + 10_000 });
    expect(await launcher.run(shell('sleep 0.1'), never)).toMatchObject({ outcome: { exitCode: 0 } });
  }
});

test('setDeadline() with moments gone by ends everything at once', async () => {
  const launcher = await start();
  const stubborn = await running(launcher, 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
  launcher.setDeadline({ termAtMs: 0, killAtMs: 0 });
  expect(await stubborn.ended).toMatchObject({ outcome: { type: 'signalled', signal: 'SIGKILL' } });
});

test('a launcher that was started again keeps the deadline', async () => {
  const launcher = await start();
  launcher.setDeadline({ termAtMs: 0, killAtMs: 0 });
  await expect(launcher.run(shell('echo late'), never)).rejects.toThrow('the deadline that the daemon set');
  const first = launcher.pid;
  process.kill(first ?? 0, 'SIGKILL');
  // The death is noticed in its own time: either launcher refuses.
  while (launcher.pid === first)
    await expect(launcher.run(shell('echo late'), never)).rejects.toThrow(/launcher|deadline/);
  await expect(launcher.run(shell('echo late'), never)).rejects.toThrow('the deadline that the daemon set');
});

test('the deadline holds while this process does nothing and its hook prints more than anybody reads', async () => {
  const launcher = await start();
  const beats = path.join(directory, 'beats');
  const script = `
trap '' TERM
(while :; do date +%s%3N >> ${beats}; sleep 0.02; done) &
echo ready; exec yes`;
  const ready = Promise.withResolvers<void>();
  const spec = { ...shell(script, [], () => ready.resolve()), maxLineBytes: 100 };
  const ended = launcher.run(spec, never);
  await ready.promise;
  const now = systemClock.steadyMs();
  const wallOffsetMs = systemClock.wallMs() - now;
  launcher.setDeadline({ termAtMs: now + 300, killAtMs: now + 600 });
  // What a daemon is like whose event loop is blocked, but for the time to send the deadline.
  await systemClock.sleep(50, never);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500);
  const all = readFileSync(beats, 'utf8').trim().split('\n').map(Number);
  expect(Math.max(...all) - wallOffsetMs - now).toBeLessThan(3_000);
  expect(await ended).toMatchObject({ outcome: { type: 'signalled', signal: 'SIGKILL' } });
});
