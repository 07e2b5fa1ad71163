import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';

/** The part of `process` that reports uncaught errors. */
export interface UncaughtErrors {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  off(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

export interface UncaughtHost {
  readonly clock: SteadyClock;
  readonly log: Logger;
  readonly process?: UncaughtErrors;
}

/** Enough to end process groups and to give a lease back, which has limits of its own. */
const END_LIMIT_MS = 10_000;

/**
 * Ends the process with exit code 1 on an uncaught error, because the state it left is unknown. One record says so, and
 * what runs is ended, which has ten seconds: so child processes do not outlive it, and others can take over at once.
 *
 * @param host with a log that shows no secret; without a `process` nothing is done
 * @param running is disposed of, which ends everything in reverse order of its start
 * @param onEnd called first: nothing may be started any more
 */
export function endOnUncaught(
  { clock, log, process }: UncaughtHost,
  running: AsyncDisposableStack,
  onEnd: (error: OperatorError) => void,
): void {
  if (process === undefined) return;
  let isEnding = false;
  const end = async (): Promise<void> => {
    const late = new AbortController();
    const limit = clock.sleep(END_LIMIT_MS, late.signal).catch(() => undefined);
    try {
      await Promise.race([running.disposeAsync(), limit]);
    } catch (cause) {
      log.error({ error: cause }, 'cannot stop a part of the daemon');
    } finally {
      late.abort();
      process.exit(1);
    }
  };
  const onError = (error: unknown): void => {
    // While everything ends in haste more may fail: the first error is the one to look for.
    if (isEnding) return;
    isEnding = true;
    log.fatal({ error }, 'internal error, the daemon exits: please report it with this record');
    onEnd(new OperatorError('ABORTED', 'the daemon exits because of an internal error', { cause: error }));
    void end();
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  running.defer(() => {
    if (isEnding) return;
    process.off('uncaughtException', onError);
    process.off('unhandledRejection', onError);
  });
}
