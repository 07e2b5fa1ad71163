import { uptime } from 'node:os';

/** Time as a parameter: everything that reads the time or waits takes a Clock, so tests need no real time. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with `signal.reason` as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = { now: () => Date.now(), sleep };

/**
 * Milliseconds since some moment of this process, never set or turned back: for durations of what it does itself. Unlike
 * {@link steadyClock} it may stand still while the machine is suspended, and takes no system call.
 */
export function monotonicMs(): number {
  return performance.now();
}

const NS_PER_MS = 1_000_000;
const MS_PER_SECOND = 1_000;

/**
 * Never set and never turned back: `now()` counts milliseconds from a moment that is the same for all processes of a
 * machine. For deadlines that must hold although somebody sets the wall clock. On Linux it goes on while the machine is
 * suspended, and is exact to 10 ms after that; a sleep is as much longer then.
 */
export const steadyClock: Clock = { now: steadyMs, sleep };

function steadyMs(): number {
  const awakeMs = Number(process.hrtime.bigint()) / NS_PER_MS;
  // Elsewhere the time since the boot follows the wall clock. Both count from the boot, so the later one is right.
  return process.platform === 'linux' ? Math.max(awakeMs, uptime() * MS_PER_SECOND) : awakeMs;
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // Node prints a warning for a delay below zero.
  let leftMs = Math.max(0, ms);
  do {
    const stepMs = Math.min(leftMs, MAX_TIMER_MS);
    await timer(stepMs, signal);
    leftMs -= stepMs;
  } while (leftMs > 0);
}

/** That of Node makes an error with a stack for each abort, which for limits of short processes is most of the work. */
function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timeout);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timeout = setTimeout(end, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}
