import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SteadyClock } from '@addon-operator/base/clock';

/** The memory of the process, and ways to reduce it. */
export interface ProcessMemory {
  /** Bytes used by objects, garbage included, and bytes reserved for them. */
  read(): { readonly usedBytes: number; readonly keptBytes: number };
  /** CPU time of the process, in milliseconds. */
  cpuMs(): number;
  /** Collects all garbage and returns its memory to the system. Blocks the process. */
  collect(): void;
  /** Returns the memory of code to the system; code that is used again is read again. */
  returnCode(): Promise<void>;
}

/** The interval of the checks, in milliseconds. */
const CHECK_MS = 5_000;
/** The process is idle below this share of one CPU since the last check. */
const REST_SHARE = 0.1;
/**
 * The minimum that a collection has to free: it blocks for about a millisecond per megabyte in use.
 */
const WORTH_BYTES = 24 * 1024 * 1024;
/** A larger heap is not collected, because that would block for too long. */
const MAX_USED_BYTES = 256 * 1024 * 1024;

/**
 * Returns memory to the system when the process is idle and keeps much more than after the last
 * collection. V8 collects garbage only to make room for new objects, so memory of a large list
 * stays reserved while little happens. The memory of code is returned once per idle period: most of
 * it serves starts and converges only.
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

/**
 * The `gc` function of V8. It exists in contexts that are created while the flag is set; the flag
 * is reset at once. Only a last-resort collection returns memory.
 */
function exposedGc(): (options: object) => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  return gc;
}
