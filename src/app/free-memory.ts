import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SteadyClock } from '@addon-operator/base/clock';

/** What is known of the memory of the process, and a way to make it smaller. */
export interface ProcessMemory {
  /** What objects take, garbage included, and what is kept for them; in bytes. */
  read(): { readonly usedBytes: number; readonly keptBytes: number };
  /** Time that the process has had of the processors, in milliseconds. */
  cpuMs(): number;
  /** Collects all garbage and returns what it took to the system. Nothing else runs in the meantime. */
  collect(): void;
  /** Returns the memory that code takes; what is used again is read again. */
  returnCode(): Promise<void>;
}

/** The process is looked at this often. */
const CHECK_MS = 5_000;
/** It is at rest when it has had less of a processor than this since the last look. */
const REST_SHARE = 0.1;
/** What may be returned must be worth the interruption, of about a millisecond for each megabyte in use. */
const WORTH_BYTES = 24 * 1024 * 1024;
/** A larger heap would be looked through for too long. */
const MAX_USED_BYTES = 256 * 1024 * 1024;

/**
 * Returns memory to the system whenever the process is at rest and keeps much more than after the last time. V8 collects
 * garbage only to make room for new objects: what a large list took stays as long as little happens. The code that ran is
 * returned once each time the process comes to rest: most of it serves starts and converges only.
 */
export async function freeMemory(
  clock: SteadyClock,
  memory: ProcessMemory,
  stop: AbortSignal,
): Promise<void> {
  let leastBytes = 0;
  let last = { cpuMs: memory.cpuMs(), atMs: clock.steadyMs() };
  let isCodeReturned = false;
  while (!stop.aborted) {
    await clock.sleep(CHECK_MS, stop);
    const now = { cpuMs: memory.cpuMs(), atMs: clock.steadyMs() };
    const isAtRest = now.cpuMs - last.cpuMs < (now.atMs - last.atMs) * REST_SHARE;
    last = now;
    if (!isAtRest) {
      isCodeReturned = false;
      continue;
    }
    const { usedBytes, keptBytes } = memory.read();
    if (usedBytes <= MAX_USED_BYTES && keptBytes - leastBytes >= WORTH_BYTES) {
      memory.collect();
      leastBytes = memory.read().keptBytes;
      isCodeReturned = false;
    }
    if (!isCodeReturned) await memory.returnCode();
    isCodeReturned = true;
  }
}

/**
 * The memory of this process.
 *
 * @param returnCode see {@link ProcessMemory.returnCode}; default: does nothing
 */
export function processMemory(returnCode = (): Promise<void> => Promise.resolve()): ProcessMemory {
  let collectGarbage: ((options: object) => void) | undefined;
  return {
    read: () => {
      const { used_heap_size: used, total_heap_size: kept, external_memory: external } = getHeapStatistics();
      return { usedBytes: used, keptBytes: kept + external };
    },
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    collect: () => {
      collectGarbage ??= exposedGc();
      collectGarbage({ type: 'major', flavor: 'last-resort' });
    },
    returnCode,
  };
}

/** `gc` of V8, which a context has that is made while the flag is set. The last resort alone returns memory. */
function exposedGc(): (options: object) => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  return gc;
}
