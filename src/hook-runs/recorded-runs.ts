import type { Clock } from '@addon-operator/base/clock';
import type { Redactor } from '@addon-operator/masking/redactor';
import { fullName, moduleNameOf } from '../hooks/hook.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import { Recorder } from '../recordings/recorder.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';

export interface RecordingOptions {
  readonly settings: Pick<HookRunSettings, 'keptHookFailures'>;
  readonly host: { readonly clock: Clock; readonly version: string };
  readonly redactor: Redactor;
  /** Variables that executables have. */
  readonly hookEnv: Readonly<Record<string, string>>;
}

/**
 * Creates the recorder of hook runs, for clients of the debug endpoint. `tap` wraps the runs of
 * hooks.
 */
export function createRecording({ settings, host, redactor, hookEnv }: RecordingOptions): {
  readonly recorder: Recorder;
  readonly tap: (runs: HookRuns) => HookRuns;
} {
  const { clock, version } = host;
  const recorder = new Recorder({
    clock,
    version,
    redactor,
    keptFailures: settings.keptHookFailures,
  });
  return { recorder, tap: recordedRuns(recorder, Object.keys(hookEnv)) };
}

/**
 * Wraps runs: they are recorded while a client requests that, and, if the operator keeps failures,
 * always.
 *
 * @param env names of the variables that executables have
 */
function recordedRuns(recorder: Recorder, env: readonly string[]): (runs: HookRuns) => HookRuns {
  return (runs) => ({
    run: (hook, inputs, log, signal) => {
      // Recording copies the contexts, so it is skipped if no client records this hook.
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
