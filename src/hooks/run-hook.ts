/**
 * Runs executable hooks. `hook-runs/hook-execution.ts` calls `run` with binding contexts and values as JSON; the runner
 * writes them to files, starts the process through the launcher, streams its output to the log, and returns the contents
 * of the output files. Nothing is applied here: parsing is in `parse-outputs.ts`, effects are in `hook-runs/`. A failed
 * run throws HOOK_FAILED, HOOK_TIMEOUT, HOOK_TEMPORARY or HOOK_PERMANENT, and its outputs are dropped.
 */

import { type ErrorFacts, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { warnOfEscaped } from '@addon-operator/process/escaped-processes';
import { failureReason } from '@addon-operator/process/process-failure';
import type { ProcessResult, ProcessRunner, ResourceUsage } from '@addon-operator/process/process-runner';
import type { HookOutputContents, HookRunContents } from '@addon-operator/sdk/host';
import { batchEnvironment, failureInRecord, messageInStderr, replacedFile } from './batch-file.ts';
import type { ContextDocument } from './context-document.ts';
import { argumentsOf, type Hook, type HookTransport, title, valuesOwnerOf } from './hook.ts';
import { createHookOutputLog, type OutputLevel } from './hook-output-log.ts';
import { hookCommand } from './python.ts';
import { type NotYet, parseRetryFile, permanentError, temporaryError } from './retry-errors.ts';
import { createRunFiles, type RunFiles } from './run-files.ts';
import { SpareDirectories } from './spare-directories.ts';

export interface HookRunnerOptions {
  readonly runner: ProcessRunner;
  readonly tmpDir: string;
  /** Environment of hooks, without the `*_PATH` variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Limit for hooks that set none of their own, in milliseconds; undefined = none. */
  readonly timeoutMs: number | undefined;
  /** Between TERM and KILL, in milliseconds. */
  readonly graceMs: number;
  /** Output beyond this many bytes is not logged; undefined = no limit. */
  readonly maxOutputBytes: number | undefined;
  /** Called with the number of processes that had left the group of a run and were ended with it. */
  readonly onEscaped: (hook: Hook, count: number) => void;
  /** The lowest level of records that are logged, for hooks that can leave the others out. */
  readonly logLevel: () => OutputLevel;
  /** Leave the files of every run where they are. */
  readonly keepFiles: boolean;
}

export interface HookRunResult {
  readonly outputs: HookOutputContents;
  /** To be called if the outputs are refused, or cannot be applied. */
  readonly onRefused?: (error: unknown) => void;
}

/** How the process or thread of a run ended, whether it succeeded or failed. */
export interface HookExit {
  /** Of an executable that ended by itself. */
  readonly exitCode?: number;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal?: string;
  /** Absent where the platform gives no figures. */
  readonly usage?: ResourceUsage;
}

/** The input of an executable. */
export interface HookFileInputs extends Omit<HookRunContents, 'bindingContext'> {
  readonly bindingContext: ContextDocument;
  /** Called with the pid of a hook that is a process of its own, unless it ends at once. */
  readonly onStart?: (pid: number) => void;
  /** Called when the process or thread of the run has ended; not for a server. */
  readonly onExit?: (exit: HookExit) => void;
  /** A client waits for what the hook says, so that it runs while the operator stops too. Default: no. */
  readonly isAwaited?: boolean;
}

/** The input of a hook run, on any transport. */
export interface HookRunInputs extends HookFileInputs {
  /** Stays the same while the same piece of work is repeated because it failed; no other work ever has it. */
  readonly idempotencyKey: string;
}

/** Runs hooks of one transport. Applies nothing. */
export interface HookRuns {
  run(hook: Hook, inputs: HookRunInputs, log: Logger, signal: AbortSignal): Promise<HookRunResult>;
}

/** Runs hooks of all transports. */
export function hookRunsOf(transports: Readonly<Record<HookTransport, HookRuns>>): HookRuns {
  return {
    run: (hook, inputs, log, signal) => transports[hook.transport].run(hook, inputs, log, signal),
  };
}

/** Runs executable hooks: writes what they read, starts them, reads what they wrote. Applies nothing. */
export class HookRunner implements HookRuns, Disposable {
  readonly #options: HookRunnerOptions;
  readonly #spares: SpareDirectories;

  constructor(options: HookRunnerOptions) {
    this.#options = options;
    this.#spares = new SpareDirectories(options.tmpDir);
  }

  /** Removes the empty files that were kept for the next run. */
  [Symbol.dispose](): void {
    this.#spares[Symbol.dispose]();
  }

  /**
   * Runs a hook once. Its files are gone afterwards, also after a failure, except for empty ones that the next run may have.
   *
   * @param log gets every line the hook prints
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT or HOOK_EXEC; nothing the hook wrote counts then
   * @throws `signal.reason` on abort, once the hook and its children are gone
   */
  async run(hook: Hook, inputs: HookFileInputs, log: Logger, signal: AbortSignal): Promise<HookRunResult> {
    const { runner, tmpDir, env, cwd, graceMs, maxOutputBytes, keepFiles, onEscaped, logLevel } =
      this.#options;
    const replaced = replacedFile(hook);
    if (replaced !== undefined) throw failure(hook, replaced, {});
    const timeoutMs = hook.config.settings.timeoutMs ?? this.#options.timeoutMs;
    const label = `${valuesOwnerOf(hook)}-${hook.name}`;
    const { bindingContext, traceparent } = inputs;
    const isShort = typeof bindingContext === 'string';
    const texts = { ...inputs, bindingContext: isShort ? bindingContext : '' };
    const hasRetryFile = (hook.config.settings.exitCodes?.temporary ?? []).length > 0;
    const files = createRunFiles(tmpDir, label, texts, keepFiles ? undefined : this.#spares, hasRetryFile);
    let reported: string | undefined;
    const output = createHookOutputLog(log, (record) => {
      if (hook.batch !== undefined) reported ??= failureInRecord(record);
    });
    const command = hookCommand(hook, argumentsOf(hook));
    const clear = async (clearRest: () => void): Promise<void> => {
      if (keepFiles) return;
      if (!isShort) await files.removeContexts();
      clearRest();
    };
    try {
      // Long contexts are streamed into the file, so they never exist as one string.
      if (!isShort) await files.writeContexts(bindingContext, signal);
      const result = await runner.run(
        {
          ...command,
          cwd,
          env: {
            ...env,
            ...command.env,
            ...files.env,
            ...(hook.batch !== undefined && batchEnvironment(hook.owner, logLevel())),
            ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
          },
          graceMs,
          onLine: (stream, line) => output.line(stream, line),
          onEscaped: (escaped) => {
            onEscaped(hook, escaped.count);
            warnOfEscaped(log, escaped);
          },
          ...(inputs.isAwaited === undefined ? {} : { isAwaited: inputs.isAwaited }),
          ...(inputs.onStart === undefined ? {} : { onStart: inputs.onStart }),
          ...(maxOutputBytes === undefined ? {} : { maxLineBytes: maxOutputBytes }),
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        },
        signal,
      );
      inputs.onExit?.(exitOf(result));
      if (result.droppedBytes !== undefined)
        log.warn(
          { truncatedBytes: result.droppedBytes, limitBytes: maxOutputBytes },
          'hook output is truncated',
        );
      output.end();
      assertSucceeded(hook, result, reported, () => notYetOf(files, log));
      if (hook.batch !== undefined) inNameOf(hook, () => files.assertInPlace());
      const outputs = outputsOf(hook, files, log);
      await clear(() => files.recycle());
      return { outputs };
    } catch (error) {
      await clear(() => files.remove());
      throw error;
    } finally {
      output.end();
    }
  }
}

function exitOf({ outcome, usage }: ProcessResult): HookExit {
  return {
    ...(outcome.type === 'exited' && { exitCode: outcome.exitCode }),
    ...(outcome.type === 'signalled' && { signal: outcome.signal }),
    ...(usage !== undefined && { usage }),
  };
}

function outputsOf(hook: Hook, files: RunFiles, log: Logger): HookOutputContents {
  return inNameOf(hook, () =>
    files.readOutputs((variable) =>
      log.warn({ variable }, 'hook wrote bytes that are not UTF-8; they are replaced'),
    ),
  );
}

function inNameOf<T>(hook: Hook, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new OperatorError('HOOK_OUTPUT_INVALID', `${title(hook)}: ${messageOf(cause)}`, { cause });
  }
}

/** The retry time and reason that the hook wrote. An unusable file does not change the outcome: the exit code decides. */
function notYetOf(files: RunFiles, log: Logger): Partial<NotYet> {
  try {
    return parseRetryFile(files.readRetry());
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'the file in $RETRY_PATH is not used: the default applies');
    return {};
  }
}

/** @param reported what the program says itself on stdout; some end with exit code 0 although they failed */
function assertSucceeded(
  hook: Hook,
  result: Pick<ProcessResult, 'outcome' | 'stderr'>,
  reported: string | undefined,
  notYet: () => Partial<NotYet>,
): void {
  const { outcome, stderr } = result;
  const ownMessage = hook.batch === undefined ? undefined : (reported ?? messageInStderr(stderr));
  const reason = ownMessage ?? failureReason(result);
  switch (outcome.type) {
    case 'exited': {
      const { exitCode } = outcome;
      if (exitCode === 0 && reported === undefined) return;
      const { exitCodes } = hook.config.settings;
      if (exitCodes?.permanent.includes(exitCode) === true) throw permanentError(hook, reason, { exitCode });
      if (exitCodes?.temporary.includes(exitCode) === true)
        throw temporaryError(hook, { reason, afterMs: undefined, ...notYet() }, { exitCode });
      throw failure(hook, reason, { exitCode });
    }
    case 'signalled':
      throw failure(hook, reason, { signal: outcome.signal });
    case 'timed-out':
      throw new OperatorError('HOOK_TIMEOUT', `${title(hook)} was stopped: ${reason}`);
  }
}

function failure(hook: Hook, reason: string, facts: ErrorFacts): OperatorError {
  return new OperatorError('HOOK_FAILED', `${title(hook)} failed: ${reason}`, { facts });
}
