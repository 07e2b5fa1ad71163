import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { freeMemory, type ProcessMemory, processMemory } from './free-memory.ts';

const MIB = 1024 * 1024;

interface Lab {
  readonly clock: FakeClock;
  readonly memory: { used: number; kept: number; cpuMs: number };
  collections: number;
  codeReturns: number;
  /** Lets five seconds pass, of which the process is busy for a part. */
  pass(busyMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** A process whose collections leave 40 MiB. */
function startLab(): Lab {
  const clock = new FakeClock();
  const memory = { used: 30 * MIB, kept: 100 * MIB, cpuMs: 0 };
  const stop = new AbortController();
  const lab: Lab = {
    clock,
    memory,
    collections: 0,
    codeReturns: 0,
    pass: async (busyMs) => {
      memory.cpuMs += busyMs;
      await clock.advance(5_000);
      await settle();
    },
    stop: async () => {
      stop.abort();
      await ended.catch(() => undefined);
    },
  };
  const process: ProcessMemory = {
    read: () => ({ usedBytes: memory.used, keptBytes: memory.kept }),
    cpuMs: () => memory.cpuMs,
    collect: () => {
      lab.collections += 1;
      memory.kept = 40 * MIB;
    },
    returnCode: async () => {
      lab.codeReturns += 1;
    },
  };
  const ended = freeMemory(clock, process, stop.signal);
  return lab;
}

test('freeMemory() collects garbage when the process is at rest', async () => {
  const lab = startLab();
  await lab.pass(3_000);
  expect(lab.collections).toBe(0);
  await lab.pass(400);
  expect(lab.collections).toBe(1);
  await lab.stop();
});

test('freeMemory() collects again only when much more is kept than after the last time', async () => {
  const lab = startLab();
  await lab.pass(0);
  lab.memory.kept = 63 * MIB;
  await lab.pass(0);
  expect(lab.collections).toBe(1);
  lab.memory.kept = 64 * MIB;
  await lab.pass(0);
  expect(lab.collections).toBe(2);
  await lab.stop();
});

test('freeMemory() does not interrupt a process that uses more than 256 MiB', async () => {
  const lab = startLab();
  lab.memory.used = 257 * MIB;
  lab.memory.kept = 800 * MIB;
  await lab.pass(0);
  expect(lab.collections).toBe(0);
  await lab.stop();
});

test('freeMemory() returns code once each time the process comes to rest', async () => {
  const lab = startLab();
  await lab.pass(3_000);
  expect(lab.codeReturns).toBe(0);
  await lab.pass(0);
  await lab.pass(400);
  expect(lab.codeReturns).toBe(1);
  await lab.pass(3_000);
  expect(lab.codeReturns).toBe(1);
  await lab.pass(0);
  await lab.pass(0);
  expect([lab.codeReturns, lab.collections]).toEqual([2, 1]);
  await lab.stop();
});

test('freeMemory() returns code again after a collection, which runs code of its own', async () => {
  const lab = startLab();
  await lab.pass(0);
  lab.memory.kept = 100 * MIB;
  await lab.pass(0);
  expect([lab.codeReturns, lab.collections]).toEqual([2, 2]);
  await lab.stop();
});

test('processMemory() returns what garbage took', () => {
  const memory = processMemory();
  let garbage: object[] | undefined = Array.from({ length: 200_000 }, (_, index) => ({
    index,
    text: `${index}`,
  }));
  const { keptBytes } = memory.read();
  expect(garbage).toHaveLength(200_000);
  garbage = undefined;
  memory.collect();
  const after = memory.read();
  expect(after.keptBytes).toBeLessThan(keptBytes);
  expect(after.usedBytes).toBeLessThanOrEqual(after.keptBytes);
  expect(memory.cpuMs()).toBeGreaterThan(0);
});
