import { errorText } from '@addon-operator/base/error-text';
import { errorFields, hasCode } from '@addon-operator/base/errors';
import { untilAborted } from '@addon-operator/concurrency/result-or-abort';
import type { DaemonHost } from './app/host.ts';
import { type Daemon, type LoneRun, startDaemon } from './app/start.ts';
import type { FailedTask } from './queues/failed-task.ts';
import { modulesLeftBehind, modulesPutOff } from './requests/modules-left-behind.ts';
import type { DaemonSettings } from './settings/daemon-settings.ts';
import type { Settings } from './settings.ts';

/** A task of the start or the first converge that failed this often in a row will not succeed by itself. */
const MAX_FAILURES = 3;

/** Receives lifecycle events of the daemon. */
export interface DaemonObserver {
  /** Called when the queues of the daemon run. */
  readonly onStarted: (daemon: Daemon) => void;
  /** Called when the first converge is over; the daemon is not stopped before the promise settles. */
  readonly onConverged: (daemon: Daemon) => Promise<void>;
}

const NO_OBSERVER: DaemonObserver = { onStarted: () => undefined, onConverged: () => Promise.resolve() };

/**
 * Runs the daemon until a stop is requested, with `exitsAfterConverge` until its first converge is over at the latest.
 * A failure to start is logged as one record.
 *
 * @param stopSignal requests an orderly stop
 * @param lone default: all modules are run
 * @returns the exit code: 0 after an orderly stop, also one because another replica leads, 1 after a failed start, also of a
 * global onStartup hook that failed permanently; with `exitsAfterConverge` also 1 when a task
 * of the start or the first converge failed three times in a row, when modules failed for good, are isolated, put off or
 * not authorized, or when the daemon was stopped before
 */
export async function runDaemon(
  settings: Settings,
  host: DaemonHost,
  stopSignal: AbortSignal,
  observer: DaemonObserver = NO_OBSERVER,
  lone?: LoneRun,
): Promise<number> {
  const { log } = host;
  const stuck = Promise.withResolvers<FailedTask>();
  const failedStart = Promise.withResolvers<FailedTask>();
  const onTaskFailure = (failed: FailedTask): void => {
    host.onTaskFailure?.(failed);
    if (failed.holdsUpFirstConverge && failed.failures >= MAX_FAILURES) stuck.resolve(failed);
    if (failed.endsOperator === true) failedStart.resolve(failed);
  };
  const stopRequest = untilAborted(stopSignal);
  let daemon: Daemon;
  try {
    daemon = await startDaemon(settings, { ...host, onTaskFailure }, stopSignal, lone);
  } catch (error) {
    if (stopSignal.aborted) return exitCodeOf(settings, false);
    if (hasCode(error, 'LEASE_LOST')) return 0;
    log.fatal({ ...errorFields(error), error: errorText(error) }, 'the daemon cannot start');
    return 1;
  }
  observer.onStarted(daemon);
  let hasFailedToStart = false;
  const startFailed = failedStart.promise.then(({ hook, error, facts }) => {
    hasFailedToStart = true;
    host.log.fatal({ hook, error, ...facts }, 'the start failed for good: the operator ends');
  });
  const stopped = Promise.race([stopRequest, daemon.leadershipLost, startFailed]);
  const isEnding = Promise.race([
    stopped,
    ...(settings.exitsAfterConverge ? [reported(stuck.promise, host)] : []),
  ]);
  try {
    const hasConverged = await Promise.race([
      daemon.firstConverge.then(() => true),
      isEnding.then(() => false),
    ]);
    if (hasConverged) await observer.onConverged(daemon);
    if (!settings.exitsAfterConverge) await stopped;
    if (hasFailedToStart) return 1;
    return exitCodeOf(settings, hasConverged && !tellLeftBehind(settings, daemon, host));
  } finally {
    await daemon.stop();
  }
}

type EndSettings = Pick<DaemonSettings, 'exitsAfterConverge'>;

function exitCodeOf({ exitsAfterConverge }: EndSettings, hasConverged: boolean): number {
  return exitsAfterConverge && !hasConverged ? 1 : 0;
}

/** Reports modules that failed or were put off while the others converged. Returns whether there are any. */
function tellLeftBehind(
  { exitsAfterConverge }: EndSettings,
  { operator }: Daemon,
  { log }: DaemonHost,
): boolean {
  if (!exitsAfterConverge) return false;
  const modules = modulesLeftBehind(operator);
  if (modules.length > 0)
    log.fatal({ modules }, 'the first converge went on without modules that failed or are not authorized');
  const putOff = modulesPutOff(operator);
  for (const [module, waitsFor] of putOff)
    log.fatal({ module, waitsFor }, 'the first converge went on without a module that was put off');
  return modules.length + putOff.size > 0;
}

async function reported(stuck: Promise<FailedTask>, { log }: DaemonHost): Promise<void> {
  const { queue, task, module, hook, failures, error, facts } = await stuck;
  log.fatal({ queue, task, module, hook, failures, error, ...facts }, 'the first converge failed');
}
