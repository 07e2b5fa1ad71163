/**
 * Runs hooks that are JavaScript or TypeScript files, in worker threads of a separate process (`packages/script-threads`).
 * A crash or an endless loop of a script cannot stop the operator: the thread is terminated, and the run fails.
 */

import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { RunFacts, Strings } from '@addon-operator/script-threads/host-protocol';
import { type WorkerResponse, whyNot } from '@addon-operator/script-threads/script-worker';
import type { WorkerPools } from '@addon-operator/script-threads/worker-pools';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import { ownProgram } from '../../own-code.ts';
import { contextText } from '../context-document.ts';
import { type Hook, title } from '../hook.ts';
import { afterMsOf, permanentError, temporaryError } from '../retry-errors.ts';
import type { HookFileInputs, HookRunResult } from '../run-hook.ts';
import { outputTo } from './script-output.ts';

const PROGRAM = ownProgram('hooks/in-process/hook-worker-main').href;

export interface InProcessHooksOptions {
  readonly pools: WorkerPools;
  /** Limit for hooks that set none of their own, in milliseconds; undefined = none. */
  readonly timeoutMs: number | undefined;
  /** Output beyond this many bytes is not logged; undefined = no limit. */
  readonly maxOutputBytes: number | undefined;
  /** Called before a file is loaded or run; what it throws keeps that from being done. */
  readonly check: (isAwaited?: boolean) => void;
}

/** Runs hooks that are JavaScript or TypeScript files, each in threads of its own. */
export class InProcessHooks {
  readonly #options: InProcessHooksOptions;

  constructor(options: InProcessHooksOptions) {
    this.#options = options;
  }

  /**
   * Loads a file anew and returns its configuration as JSON. Runs under way keep the old one.
   *
   * @param log gets what the file prints while it is loaded
   * @throws OperatorError HOOK_CONFIG_INVALID when it cannot be loaded, or not in time; `signal.reason` on abort
   */
  async load(file: string, timeoutMs: number, log: Logger, signal: AbortSignal): Promise<string> {
    const { check, pools } = this.#options;
    check();
    const output = outputTo(log);
    const work = { timeoutMs, onOutput: output.push };
    const response = await pools.load({ program: PROGRAM, path: file }, work, signal).finally(output.end);
    if (response.type === 'ready') return response.description;
    throw new OperatorError(
      'HOOK_CONFIG_INVALID',
      `cannot load hook '${file}': ${whyNot(response, timeoutMs)}`,
    );
  }

  /**
   * Runs a hook once.
   *
   * @param log gets every line the hook prints or logs
   * @throws OperatorError HOOK_FAILED or HOOK_TIMEOUT; nothing the hook recorded counts then
   * @throws `signal.reason` on abort, once the hook has come to its end
   */
  async run(hook: Hook, inputs: HookFileInputs, log: Logger, signal: AbortSignal): Promise<HookRunResult> {
    const { values, configValues, traceparent } = inputs;
    const bindingContext = await contextText(inputs.bindingContext);
    const runInputs = { bindingContext, ...(traceparent !== undefined && { traceparent }) };
    const keptInputs = { values, configValues };
    const { check, pools, maxOutputBytes } = this.#options;
    check(inputs.isAwaited);
    const timeoutMs = hook.config.settings.timeoutMs ?? this.#options.timeoutMs;
    const output = outputTo(log);
    const response = await pools
      .do(
        hook.path,
        {
          type: 'run',
          inputs: runInputs,
          keptInputs,
          ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
        },
        { timeoutMs, onOutput: output.push },
        signal,
      )
      .finally(output.end);
    if ('leakedTimers' in response) {
      const { userCpuMs, systemCpuMs, memoryBytes: maxRssBytes } = response;
      inputs.onExit?.({ usage: { userCpuMs, systemCpuMs, maxRssBytes } });
      this.#warnOf(response, log);
    }
    return resultOf(hook, response, timeoutMs);
  }

  #warnOf({ droppedBytes: truncatedBytes, leakedTimers: timers }: RunFacts, log: Logger): void {
    if (truncatedBytes > 0)
      log.warn({ truncatedBytes, limitBytes: this.#options.maxOutputBytes }, 'hook output is truncated');
    if (timers > 0)
      log.warn({ timers }, 'hook left timers behind; they are cancelled, and what it kept in memory is lost');
  }
}

function resultOf(hook: Hook, response: WorkerResponse, timeoutMs: number | undefined): HookRunResult {
  switch (response.type) {
    case 'done':
      return { outputs: outputsOf(response.outputs) };
    case 'timed-out':
      throw new OperatorError('HOOK_TIMEOUT', `${title(hook)} was stopped: ${whyNot(response, timeoutMs)}`);
    case 'failed':
      throw failureOf(hook, response);
    case 'ready':
    case 'returned':
    case 'load-failed':
    case 'exited':
    case 'host-gone':
      throw new OperatorError('HOOK_FAILED', `${title(hook)} failed: ${whyNot(response, timeoutMs)}`);
  }
}

/** The error of a handler that threw; `TemporaryError` and `PermanentError` of the SDK say more than that it failed. */
function failureOf(
  hook: Hook,
  { reason, details }: Extract<WorkerResponse, { type: 'failed' }>,
): OperatorError {
  if (details?.['type'] === 'permanent') return permanentError(hook, reason);
  if (details?.['type'] !== 'temporary')
    return new OperatorError('HOOK_FAILED', `${title(hook)} failed: ${reason}`);
  const after = details['after'];
  return temporaryError(hook, { reason, afterMs: after === undefined ? undefined : afterMsOf(after) });
}

/** `hook-worker-main.ts` returns all of them. */
function outputsOf(outputs: Strings): HookOutputContents {
  const text = (name: keyof HookOutputContents): string => outputs[name] ?? '';
  return {
    configValuesPatch: text('configValuesPatch'),
    valuesPatch: text('valuesPatch'),
    metrics: text('metrics'),
    kubernetesPatch: text('kubernetesPatch'),
    admissionResponse: text('admissionResponse'),
    conversionResponse: text('conversionResponse'),
  };
}
