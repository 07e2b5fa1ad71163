import { OperatorError } from '../lib/errors.ts';
import type { ProcessRunner } from '../process/process-runner.ts';

/** Starts no process once the daemon is asked to stop; those that run already may finish. */
export function guardedRunner(runner: ProcessRunner, stopping: AbortSignal): ProcessRunner {
  return {
    async run(spec, signal) {
      if (stopping.aborted)
        throw new OperatorError('ABORTED', `${spec.file} is not started: the daemon is stopping`);
      return runner.run(spec, signal);
    },
  };
}
