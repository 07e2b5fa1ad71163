import type { Recorder } from '@addon-operator/hook-recordings/recorder';
import { fullName, moduleNameOf } from '../hooks/hook.ts';
import type { HookRuns } from '../hooks/run-hook.ts';

/**
 * The same runs, which are recorded while a client requests that, or to keep those that fail.
 *
 * @param env names of the variables that executables have
 */
export function recordedRuns(recorder: Recorder, env: readonly string[]): (runs: HookRuns) => HookRuns {
  return (runs) => ({
    run: (hook, inputs, log, signal) => {
      if (!recorder.isWanted(fullName(hook))) return runs.run(hook, inputs, log, signal);
      const { bindingContext: contexts, values, configValues } = inputs;
      const run = { hook: hook.name, module: moduleNameOf(hook), config: hook.config };
      const given = { contexts, values, configValues, env: hook.transport === 'executable' ? env : [] };
      return recorder.record(
        { ...run, ...given },
        (bindingContext) => runs.run(hook, { ...inputs, bindingContext }, log, signal),
        signal,
      );
    },
  });
}
