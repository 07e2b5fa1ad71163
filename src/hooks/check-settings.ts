/** Runs the settings check of a batch file, before the operator takes over a section of the ConfigMap. */

import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { failureReason } from '@addon-operator/process/process-failure';
import {
  batchEnvironment,
  failureInRecord,
  messageInStderr,
  type SettingsVerdict,
  verdictInStderr,
} from './batch-file.ts';
import { argumentsOf, type Hook, title } from './hook.ts';
import { createHookOutputLog } from './hook-output-log.ts';
import { createRunFiles } from './run-files.ts';
import type { HookRunnerOptions } from './run-hook.ts';

export type CheckOptions = Pick<
  HookRunnerOptions,
  'runner' | 'tmpDir' | 'env' | 'cwd' | 'graceMs' | 'maxOutputBytes' | 'logLevel'
>;

/** The queue `main` waits for the check, so that it has no more time than a configuration. */
const TIMEOUT_MS = 30_000;
const ACCEPTED: SettingsVerdict = { isValid: true, message: '', warnings: [] };

/**
 * Lets a batch file check a section of the ConfigMap.
 *
 * @param settings the section as JSON
 * @throws OperatorError HOOK_FAILED when the check fails without a verdict; `signal.reason` on abort
 */
export async function checkSettings(
  { runner, tmpDir, env, cwd, graceMs, maxOutputBytes, logLevel }: CheckOptions,
  hook: Hook,
  settings: string,
  log: Logger,
  signal: AbortSignal,
): Promise<SettingsVerdict> {
  const inputs = { bindingContext: '[]', values: '{}', configValues: settings };
  const files = createRunFiles(tmpDir, hook.name, inputs);
  let reported: string | undefined;
  const output = createHookOutputLog(log, (record) => {
    reported ??= failureInRecord(record);
  });
  try {
    const { outcome, stderr } = await runner.run(
      {
        file: hook.path,
        args: argumentsOf(hook),
        cwd,
        env: {
          ...env,
          ...batchEnvironment(hook.owner, logLevel()),
          SETTINGS_PATH: files.env['CONFIG_VALUES_PATH'] ?? '',
        },
        graceMs,
        timeoutMs: TIMEOUT_MS,
        // The verdict is on stderr, and no message for the log.
        onLine: (stream, line) => {
          if (stream === 'stdout') output.line(stream, line);
        },
        ...(maxOutputBytes === undefined ? {} : { maxLineBytes: maxOutputBytes }),
      },
      signal,
    );
    output.end();
    // An exit code other than 0 may be a verdict; a signal or a timeout never is.
    const isDone = outcome.type === 'exited' && reported === undefined;
    if (isDone && outcome.exitCode === 0) return ACCEPTED;
    const verdict = isDone ? verdictInStderr(stderr) : undefined;
    if (verdict !== undefined) return verdict;
    const reason = reported ?? messageInStderr(stderr) ?? failureReason({ outcome, stderr });
    throw new OperatorError('HOOK_FAILED', `${title(hook)} failed: ${reason}`);
  } finally {
    output.end();
    files.remove();
  }
}
