import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { HookConfigParser } from '@addon-operator/hook-config/parse-hook-config';
import { killedBy, killedReason, reasonWithOutput } from '@addon-operator/process/process-failure';
import type { ProcessOutcome, ProcessResult, ProcessRunner } from '@addon-operator/process/process-runner';
import { type FindOptions, findHooks, type HookFile } from './find-hooks.ts';
import type { Hook, HookOwner } from './hook.ts';
import type { HttpHooks } from './http/http-hooks.ts';
import type { InProcessHooks } from './in-process/in-process-hooks.ts';
import { hookCommand } from './python.ts';

interface HookLoaderOptions {
  readonly runner: ProcessRunner;
  readonly inProcess: Pick<InProcessHooks, 'load'>;
  readonly http: Pick<HttpHooks, 'load'>;
  readonly parser: HookConfigParser;
  readonly log: Logger;
  /** Environment of `--config` runs. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Limit for one `--config` run, or for loading a script, in milliseconds. */
  readonly timeoutMs: number;
}

const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_SHOWN_CHARACTERS = 4_096;
const GRACE_MS = 1_000;

export type OnInvalidHook = (error: Error) => void;

export interface LoadOptions extends FindOptions {
  /** Gets the error of each hook whose configuration cannot be had, and the others are loaded; default: it is thrown. */
  readonly onInvalid?: OnInvalidHook | undefined;
}

/** Finds hooks and learns the configuration of each. */
export class HookLoader {
  readonly #options: HookLoaderOptions;

  constructor(options: HookLoaderOptions) {
    this.#options = options;
  }

  /**
   * Every hook below `root`, in path order; configurations are requested one after another.
   *
   * @throws OperatorError HOOK_CONFIG_INVALID naming the first hook whose `--config` failed, and why
   */
  async load(
    root: string,
    owner: HookOwner,
    signal: AbortSignal,
    { onInvalid, ...options }: LoadOptions = {},
  ): Promise<readonly Hook[]> {
    const files = await findHooks(root, owner, this.#options.log, options);
    const hooks: Hook[] = [];
    for (const file of files) {
      try {
        hooks.push(await this.loadHook(file, owner, signal));
      } catch (error) {
        if (onInvalid === undefined || signal.aborted || !hasCode(error, 'HOOK_CONFIG_INVALID')) throw error;
        onInvalid(error);
      }
    }
    return hooks;
  }

  async loadHook(file: HookFile, owner: HookOwner, signal: AbortSignal): Promise<Hook> {
    const stdout = await this.#configOf(file, signal);
    try {
      return { ...file, owner, config: await this.#options.parser.parse(stdout, owner.type) };
    } catch (error) {
      throw new OperatorError(
        'HOOK_CONFIG_INVALID',
        `${title(owner)} hook '${file.name}' ${file.transport === 'executable' ? '--config' : 'configuration'} invalid: ${messageOf(error)}${file.transport === 'http' ? '' : shownOutput(stdout)}`,
        { cause: error },
      );
    }
  }

  #configOf(file: HookFile, signal: AbortSignal): Promise<string> {
    const { inProcess, http, log, timeoutMs } = this.#options;
    switch (file.transport) {
      case 'executable':
        return this.#requestConfig(file, signal);
      case 'in-process':
        return inProcess.load(file.path, timeoutMs, log.child({ hook: file.name }), signal);
      case 'http':
        return http.load(file.path, log.child({ hook: file.name }));
    }
  }

  async #requestConfig(file: HookFile, signal: AbortSignal): Promise<string> {
    const { runner, env, cwd, timeoutMs } = this.#options;
    if (file.python?.problem !== undefined)
      throw new OperatorError(
        'HOOK_CONFIG_INVALID',
        `cannot get config for hook '${file.path}': ${file.python.problem}`,
      );
    const command = hookCommand(file, ['--config']);
    const result = await runner
      .run(
        {
          ...command,
          cwd,
          env: { ...env, ...command.env },
          timeoutMs,
          graceMs: GRACE_MS,
          captureStdoutBytes: MAX_CONFIG_BYTES,
        },
        signal,
      )
      .catch((error: unknown) => {
        if (signal.aborted) throw error;
        throw new OperatorError(
          'HOOK_CONFIG_INVALID',
          `cannot get config for hook '${file.path}': ${messageOf(error)}`,
          {
            cause: error,
          },
        );
      });
    const problem = configProblem(result);
    if (problem !== undefined)
      throw new OperatorError('HOOK_CONFIG_INVALID', `cannot get config for hook '${file.path}': ${problem}`);
    return result.stdout;
  }
}

function configProblem({ outcome, stdout, stderr, isStdoutTruncated }: ProcessResult): string | undefined {
  if (outcome.type === 'exited' && outcome.exitCode === 0)
    return isStdoutTruncated ? `--config printed more than ${MAX_CONFIG_BYTES} bytes` : undefined;
  return `${reasonWithOutput(`--config ${endText(outcome)}`, stderr)}${shownOutput(stdout)}`;
}

function endText(outcome: ProcessOutcome): string {
  switch (outcome.type) {
    case 'timed-out':
      return `gave no response within ${outcome.timeoutMs / 1_000} s and was stopped`;
    case 'signalled':
      return `was ${killedBy(outcome.signal)}`;
    case 'exited': {
      const killed = killedReason(outcome);
      return killed === undefined ? `ended with exit status ${outcome.exitCode}` : `failed: ${killed}`;
    }
  }
}

/** The beginning of what a hook printed, as a line of its own for a message; empty if it printed nothing. */
function shownOutput(stdout: string): string {
  const text = stdout.trim();
  if (text === '') return '';
  const isLong = text.length > MAX_SHOWN_CHARACTERS;
  return `\nhook --config output: ${isLong ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text}`;
}

function title(owner: HookOwner): string {
  return owner.type === 'global' ? 'global' : `module '${owner.module}'`;
}

/**
 * The directory of global hooks: `hooks/` below the given directory if there is one, else the directory itself.
 *
 * @throws OperatorError CONFIG_INVALID when the directory does not exist
 */
export function globalHooksRoot(directory: string): string {
  const root = resolve(directory);
  if (!isDirectory(root)) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `The directory for global hooks ${root} does not exist or is not a directory: create it, or set --global-hooks-dir (GLOBAL_HOOKS_DIR)`,
    );
  }
  const nested = join(root, 'hooks');
  return isDirectory(nested) ? nested : root;
}

/**
 * Loads the global hooks. Their names are relative to the given directory, so a `hooks/` level is part of them: dashboards
 * and alerts written for the original expect `hooks/g.sh`.
 *
 * @throws OperatorError as {@link globalHooksRoot} and `HookLoader.load`
 */
export async function loadGlobalHooks(
  loader: Pick<HookLoader, 'load'>,
  directory: string,
  signal: AbortSignal,
  options: Omit<LoadOptions, 'namedFrom'> = {},
): Promise<readonly Hook[]> {
  const root = globalHooksRoot(directory);
  return await loader.load(root, { type: 'global' }, signal, { ...options, namedFrom: resolve(directory) });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
