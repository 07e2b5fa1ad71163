import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { failureReason, killedReason, reasonWithOutput } from '@addon-operator/process/process-failure';
import type {
  EscapedProcesses,
  ProcessResult,
  ProcessRunner,
  ResourceUsage,
} from '@addon-operator/process/process-runner';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleValues } from '../values/visible-values.ts';
import type { EnabledScript, ScriptVerdict } from './module-discovery.ts';
import { readScriptOutput, ScriptFiles, type ScriptPaths } from './script-files.ts';

export interface EnabledScriptOptions {
  readonly processes: ProcessRunner;
  /** The values that a module's script sees, with the modules enabled before it. */
  readonly visible: (name: ModuleName, enabledBefore: readonly ModuleName[]) => VisibleValues;
  /** An existing directory for the script's files. */
  readonly tmpDir: string;
  /** The environment of the script, without its four paths. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly graceMs: number;
  /** The number of output bytes that are logged, more is dropped and counted; undefined: all. */
  readonly maxOutputBytes: number | undefined;
  /** Keeps the files, for debugging. */
  readonly isKeepingFiles: boolean;
  readonly log: Logger;
  /**
   * Called for processes that had left the script's process group and were ended with it.
   *
   * @param log names the script
   */
  readonly onEscaped: (name: ModuleName, escaped: EscapedProcesses, log: Logger) => void;
  /** The resources that a finished run has used. */
  readonly onUsage: (name: ModuleName, usage: ResourceUsage) => void;
}

/** One pass over the modules, whose enabled scripts run one after another. */
interface ScriptPass {
  readonly run: EnabledScript;
  /** Removes the files of all scripts; resolves when that is done, or has failed with a warning. */
  readonly end: () => Promise<void>;
}

/**
 * Starts a pass. A script reads its values from two files, and writes `true` or `false`, and
 * optionally a reason, to two others; all four are private. Scripts throw OperatorError
 * ENABLED_SCRIPT_FAILED if one exits with an error, is killed, times out or writes something else,
 * and PROCESS_SPAWN if it cannot be started. On abort they reject with `signal.reason`.
 */
export function startScriptPass(options: EnabledScriptOptions): ScriptPass {
  const files = new ScriptFiles(options.tmpDir, options.isKeepingFiles);
  return {
    run: async (module, enabledBefore, signal) => {
      if (module.enabledScript === undefined) return { isEnabled: true, reason: '' };
      try {
        const paths = files.hand(module.name, options.visible(module.name, enabledBefore));
        return await runScript(options, { name: module.name, file: module.enabledScript, paths }, signal);
      } finally {
        // Not awaited: the next script takes files from the pool, or creates new ones.
        void files.takeBack();
      }
    },
    end: () =>
      files
        .remove()
        .catch((error: unknown) =>
          options.log.warn({ error, tmpDir: options.tmpDir }, 'cannot remove files of enabled scripts'),
        ),
  };
}

interface Script {
  readonly name: ModuleName;
  readonly file: string;
  readonly paths: ScriptPaths;
}

async function runScript(
  options: EnabledScriptOptions,
  { name, file, paths }: Script,
  signal: AbortSignal,
): Promise<ScriptVerdict> {
  const log = options.log.child({ module: name, hook: 'enabled', binding: 'enabled' });
  const result = await options.processes.run(
    {
      file,
      args: [],
      cwd: options.cwd,
      env: {
        ...options.env,
        VALUES_PATH: paths.values,
        CONFIG_VALUES_PATH: paths.configValues,
        MODULE_ENABLED_RESULT: paths.result,
        MODULE_ENABLED_REASON: paths.reason,
      },
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      graceMs: options.graceMs,
      onEscaped: (escaped) => options.onEscaped(name, escaped, log),
      ...(options.maxOutputBytes === undefined ? {} : { maxLineBytes: options.maxOutputBytes }),
      onLine: (output, line) => log.info({ output }, line),
    },
    signal,
  );
  if (result.droppedBytes !== undefined)
    log.warn(
      { truncatedBytes: result.droppedBytes, limitBytes: options.maxOutputBytes },
      'hook output is truncated',
    );
  checkOutcome(result);
  if (result.usage !== undefined) options.onUsage(name, result.usage);
  const verdict = readVerdict(paths);
  log.info({ result: verdict.isEnabled, status: verdict.reason }, 'Enabled script run successful');
  return verdict;
}

function checkOutcome(result: ProcessResult): void {
  const { outcome } = result;
  if (outcome.type !== 'exited') throw failed(failureReason(result));
  if (outcome.exitCode === 0) return;
  // For a signal or without output, the reason is how it ended; otherwise its last output explains
  // more.
  const isNamed = killedReason(outcome) !== undefined || result.stderr.trim() === '';
  throw failed(
    isNamed ? failureReason(result) : reasonWithOutput(`exit code ${outcome.exitCode}`, result.stderr),
  );
}

function readVerdict({ result, reason }: ScriptPaths): ScriptVerdict {
  const word = readScriptOutput(result);
  if (word === 'true') return { isEnabled: true, reason: '' };
  if (word === 'false') return { isEnabled: false, reason: readScriptOutput(reason) };
  throw failed(`bad enabled result: expected 'true' or 'false', got '${word.slice(0, 100)}'`);
}

function failed(why: string): OperatorError {
  return new OperatorError('ENABLED_SCRIPT_FAILED', why);
}
