import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { World } from '../test/support/world.ts';
import { note, percentile, report, sum } from './figures.ts';
import { childrenOf, cpuMs, privateKb } from './process-usage.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const MODULES = 20;
const CLIENTS = 5;
const ROUNDS = 3;
const SETTLE_MS = 5_000;
const MEASURE_MS = 20_000;
const MAX_MEMORY_KB = 12 * 1_024;

interface Idle {
  readonly usedMs: number;
  readonly memoryKb: number;
}

/** What the page costs a daemon that rests: CPU and memory with five clients that follow it, against the page being off. */
export async function benchPage(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  const names = Array.from({ length: MODULES }, (_, index) => `empty${index}`);
  const modules = {
    'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
    ...Object.fromEntries(names.map((name) => [`001-${name}/values.yaml`, `${name}: {}\n`])),
  };
  await using world = await World.create(sandbox.backend, { modules });
  const [off, on]: [Idle[], Idle[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await rest(world, 'off'));
    on.push(await rest(world, 'loopback'));
  }
  const median = (all: readonly Idle[], key: keyof Idle): number =>
    percentile(
      all.map((one) => one[key]),
      0.5,
    );
  const [usedOff, usedOn] = [median(off, 'usedMs'), median(on, 'usedMs')];
  report(
    `page with ${CLIENTS} clients, CPU of ${MEASURE_MS / 1_000} idle seconds`,
    `${usedOn.toFixed(0)} ms`,
    `${usedOff.toFixed(0)} ms off`,
    (usedOn - usedOff) / MEASURE_MS,
    '< 0.005',
  );
  const [memoryOff, memoryOn] = [median(off, 'memoryKb'), median(on, 'memoryKb')];
  report(
    `page with ${CLIENTS} clients, memory`,
    `${memoryOn.toFixed(0)} kB`,
    `${memoryOff.toFixed(0)} kB off`,
    (memoryOn - memoryOff) / MAX_MEMORY_KB,
    '< 1',
  );
}

/** One daemon from its start to its end. */
async function rest(world: World, ui: 'off' | 'loopback'): Promise<Idle> {
  await using daemon = DaemonProcess.start(world, { 'log-level': 'info', ui, 'ui-port': '0' });
  await daemon.untilConverged();
  const stop = new AbortController();
  const clients = ui === 'off' ? [] : await follow(world, stop.signal);
  await sleep(SETTLE_MS);
  const used = (): number => sum([daemon.pid, ...childrenOf(daemon.pid)].map(cpuMs));
  const before = used();
  await sleep(MEASURE_MS);
  const usedMs = used() - before;
  const memoryKb = privateKb(daemon.pid);
  stop.abort();
  await Promise.all(clients);
  note(`  ${ui}: ${usedMs.toFixed(0)} ms, ${memoryKb} kB`);
  return { usedMs, memoryKb };
}

/** Clients that read everything, until the signal aborts. */
async function follow(world: World, signal: AbortSignal): Promise<Promise<void>[]> {
  const address = readFileSync(join(world.directory, 'debug.socket.ui'), 'utf8').trim();
  const [page = '', token = ''] = address.split('#token=');
  const headers = { authorization: `Bearer ${token}` };
  const responses = await Promise.all(
    Array.from({ length: CLIENTS }, () => fetch(new URL('../api/v1/stream', page), { headers, signal })),
  );
  return responses.map(async (response) => {
    try {
      for await (const _chunk of response.body ?? []) if (signal.aborted) return;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
}
