import type { SteadyClock } from '@addon-operator/base/clock';

interface Deadline {
  readonly clock: SteadyClock;
  readonly limitMs: number;
  /** Creates the reason with which `run` is aborted when the time is up. */
  readonly error: () => Error;
}

/** Without a reason each abort makes an error with a stack, which is a good part of the work of a short request. */
const DONE = 'done';

/** Runs `run` with a signal that aborts when `signal` does or when the time is up, and returns what it returns. */
export async function withDeadline<T>(
  deadline: Deadline,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const work = new AbortController();
  const timer = new AbortController();
  const forward = (): void => work.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  deadline.clock.sleep(deadline.limitMs, timer.signal).then(
    () => work.abort(deadline.error()),
    () => undefined,
  );
  try {
    return await run(work.signal);
  } finally {
    timer.abort(DONE);
    signal.removeEventListener('abort', forward);
  }
}
