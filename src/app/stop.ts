import { OperatorError } from '@addon-operator/base/errors';
import type { Operator } from '../operator/operator.ts';
import type { Settings } from '../settings.ts';
import type { DaemonHost } from './host.ts';

export interface StopParts {
  readonly running: AsyncDisposableStack;
  readonly stop: AbortController;
  readonly abort: AbortController;
}

/**
 * Ends the daemon in order: no new task and no new process from now on; hooks and helm that run may finish within the
 * grace, then their process groups are terminated; at last everything else ends, in reverse order of its start.
 */
export async function stopDaemon(
  settings: Settings,
  { clock, log }: DaemonHost,
  operator: Operator,
  { running, stop, abort }: StopParts,
): Promise<void> {
  const stopping = new OperatorError('ABORTED', 'the daemon is stopping');
  log.info({ graceMs: settings.shutdownGraceMs }, 'stopping: waiting for running hooks and helm');
  stop.abort(stopping);
  const ended = new AbortController();
  const grace = clock.sleep(settings.shutdownGraceMs, ended.signal).then(
    () => {
      log.warn({}, 'hooks or helm still run after the grace period: terminating them');
      abort.abort(stopping);
    },
    () => undefined,
  );
  await operator.queues.ended();
  ended.abort();
  await grace;
  abort.abort(stopping);
  await running.disposeAsync();
  log.info({}, 'shutdown is done');
}

/** Enough to end groups of hooks and to give the lease back, which has limits of its own. */
const END_LIMIT_MS = 10_000;

/**
 * Ends the process with exit code 1 on an uncaught error, because the state it left is unknown. One record says so, hooks
 * and helm are ended and the lease is released, so that another replica takes over at once.
 *
 * @param host with a log that shows no secret
 * @param running is disposed of, which ends everything in reverse order of its start
 * @param onEnd called first: nothing may be started any more
 */
export function endOnUncaught(
  { clock, log, process }: DaemonHost,
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
