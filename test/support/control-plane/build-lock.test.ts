import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { withBuildLock } from './build-lock.ts';

const signal = new AbortController().signal;
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'build-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('withBuildLock() lets the second wait until the first is done', async () => {
  const clock = new FakeClock();
  const path = join(directory, 'lock');
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const one = withBuildLock(
    path,
    { clock },
    async () => {
      holding.resolve();
      await first.promise;
      order.push('first');
    },
    signal,
  );
  await holding.promise;
  const two = withBuildLock(
    path,
    { clock, onWait: (pid) => order.push(`waits for ${pid === process.pid}`) },
    async () => order.push('second'),
    signal,
  );
  await clock.untilAsleep();
  first.resolve();
  await one;
  await clock.advance(500);
  await two;
  expect(order).toEqual(['waits for true', 'first', 'second']);
});

test('withBuildLock() takes over a lock whose holder has exited', async () => {
  const goneHolder = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' });
  writeFileSync(join(directory, 'lock'), goneHolder);
  const result = await withBuildLock(
    join(directory, 'lock'),
    { clock: new FakeClock() },
    async () => 1,
    signal,
  );
  expect(result).toBe(1);
});

test('withBuildLock() frees the lock when the task fails', async () => {
  const path = join(directory, 'lock');
  const clock = new FakeClock();
  const failing = withBuildLock(
    path,
    { clock },
    async () => await Promise.reject(new Error('broken')),
    signal,
  );
  await expect(failing).rejects.toThrow('broken');
  expect(await withBuildLock(path, { clock }, async () => 'again', signal)).toBe('again');
});

test('withBuildLock() stops waiting when its signal aborts', async () => {
  writeFileSync(join(directory, 'lock'), String(process.pid));
  const clock = new FakeClock();
  const stop = new AbortController();
  const waiting = withBuildLock(join(directory, 'lock'), { clock }, async () => 1, stop.signal);
  await clock.untilAsleep();
  stop.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
});
