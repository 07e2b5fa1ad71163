import { uptime } from 'node:os';

/**
 * For what is shown to people, written to other systems, or compared with a time that comes from there (certificates,
 * schedules, signatures, leases of others). An administrator or NTP may set it forwards and backwards at any moment, so
 * the difference of two readings is not a duration.
 */
export interface WallClock {
  /** Milliseconds since the Unix epoch. */
  wallMs(): number;
}

/** For every duration, age, deadline and wait: never set, never turned back. */
export interface SteadyClock {
  /** Milliseconds since a moment that is the same for all processes of a machine. Meaningless on another machine. */
  steadyMs(): number;
  /** Resolves after `ms` milliseconds; rejects with `signal.reason` as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * Time as a parameter: everything that reads the time or waits takes a clock, so tests need no real time. Which files may
 * read the wall clock, and why, is listed in `test/checks/wall-clock.ts`.
 */
export interface Clock extends WallClock, SteadyClock {}

/** Longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * On Linux its steady time goes on while the machine is suspended, and is exact to 10 ms after that, from 10 ms after the
 * machine woke up on; a sleep is as much longer then.
 */
export const systemClock: Clock = { wallMs: () => Date.now(), steadyMs, sleep };

/**
 * The wall time of a moment on the steady clock, to show it. The result differs by some milliseconds with each call, and
 * by more when the wall clock is set: what has to stay the same is to be recorded as wall time in the first place.
 */
export function wallTimeOf(steadyMs: number, clock: Clock): number {
  return clock.wallMs() + (steadyMs - clock.steadyMs());
}

/** A duration in milliseconds for people to read: to a tenth. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/**
 * Milliseconds since some moment of this process, never set or turned back: for durations of what it does itself. Unlike
 * {@link SteadyClock} it may stop while the machine is suspended, and takes no system call.
 */
export function monotonicMs(): number {
  return performance.now();
}

const NS_PER_MS = 1_000_000;
const MS_PER_SECOND = 1_000;

/** The time since the boot is exact to so much. */
const BOOT_TIME_STEP_MS = 10;

/** Reading the time since the boot opens a file, which for each of many watch events is most of what they cost. */
let suspendedMs = 0;
let lookAgainMs = 0;

function steadyMs(): number {
  const awakeMs = Number(process.hrtime.bigint()) / NS_PER_MS;
  // Elsewhere the time since the boot follows the wall clock. Both count from the boot, so the later one is right.
  if (process.platform === 'linux' && awakeMs >= lookAgainMs) {
    suspendedMs = Math.max(suspendedMs, uptime() * MS_PER_SECOND - awakeMs);
    lookAgainMs = awakeMs + BOOT_TIME_STEP_MS;
  }
  return awakeMs + suspendedMs;
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

/** Calls `act` again and again, each time after a pause. Rejects with what `act` throws or the reason of `stop`. */
export async function every(
  clock: SteadyClock,
  pauseMs: number,
  act: () => void,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(pauseMs, stop);
    act();
  }
}
