import { OperatorError } from '@addon-operator/base/errors';
import type { ProcessRunner } from './process-runner.ts';

/**
 * Starts no process after the daemon began to stop, but for those whose result a client waits for; running processes may
 * finish.
 *
 * @param check called before each start; what it throws keeps the process from being started
 */
export function guardedRunner(
  runner: ProcessRunner,
  stopping: AbortSignal,
  check: () => void = () => undefined,
): ProcessRunner {
  return {
    async run(spec, signal) {
      if (stopping.aborted && spec.isAwaited !== true)
        throw new OperatorError('ABORTED', `${spec.file} is not started: the daemon is stopping`);
      check();
      return runner.run(spec, signal);
    },
  };
}
