import { OperatorError } from '@addon-operator/base/errors';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { Task } from '../model/tasks.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DaemonHost } from './host.ts';

// `stop` ends what waits, `abort` ends what runs.
export interface StopParts {
  readonly running: AsyncDisposableStack;
  readonly stop: AbortController;
  readonly abort: AbortController;
}

/**
 * Stops the daemon in order. First no new task and no new process start; running hooks and helm may
 * finish within the grace period, then their process groups are terminated; at last everything else
 * is disposed in reverse order of its start.
 */
export async function stopDaemon(
  { shutdownGraceMs: graceMs }: Pick<DaemonSettings, 'shutdownGraceMs'>,
  { clock, log }: DaemonHost,
  queues: Pick<QueueSet<Task>, 'ended'>,
  { running, stop, abort }: StopParts,
): Promise<void> {
  const stopping = new OperatorError('ABORTED', 'the daemon is stopping');
  log.info({ graceMs }, 'stopping: waiting for running hooks and helm');
  stop.abort(stopping);
  const ended = new AbortController();
  const grace = clock.sleep(graceMs, ended.signal).then(
    () => {
      log.warn({}, 'hooks or helm still run after the grace period: terminating them');
      abort.abort(stopping);
    },
    () => undefined,
  );
  await queues.ended();
  ended.abort();
  // The queues may end early: then the sleep is cancelled, and its warning is not logged.
  await grace;
  // Also after a clean end: waits that hang on this signal must not keep the process alive.
  abort.abort(stopping);
  await running.disposeAsync();
  log.info({}, 'shutdown is done');
}
