/**
 * Finds the hooks below a directory and reads the configuration of each. `modules/module-hooks.ts` and
 * `hook-runs/load-global-hooks.ts` call it at the start and after changes of files. Executables are started with
 * `--config`, scripts are loaded in a thread, HTTP hooks are read from their file. A hook without a valid configuration is
 * HOOK_CONFIG_INVALID, which stops the load unless the caller collects such errors.
 */

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { killedBy, killedReason, reasonWithOutput } from '@addon-operator/process/process-failure';
import type { ProcessOutcome, ProcessResult, ProcessRunner } from '@addon-operator/process/process-runner';
import { parseBatchConfig } from '../hook-config/batch-config.ts';
import type { HookConfigParser } from '../hook-config/parse-hook-config.ts';
import {
  batchEnvironment,
  configOutput,
  fileMark,
  hooksOfBatch,
  isElf,
  readinessQueue,
} from './batch-file.ts';
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

/** A larger output of `--config` is an error; messages show the beginning of it. */
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
        hooks.push(...(await this.loadFile(file, owner, signal)));
      } catch (error) {
        if (onInvalid === undefined || signal.aborted || !hasCode(error, 'HOOK_CONFIG_INVALID')) throw error;
        onInvalid(error);
      }
    }
    refuseSecondProbe(hooks);
    return hooks;
  }

  /**
   * The hooks of one file: one, or those of a batch file by their index.
   *
   * @throws OperatorError HOOK_CONFIG_INVALID
   */
  async loadFile(file: HookFile, owner: HookOwner, signal: AbortSignal): Promise<readonly Hook[]> {
    const { inProcess, http, log, timeoutMs } = this.#options;
    switch (file.transport) {
      case 'executable':
        return await this.#loadExecutable(file, owner, signal);
      case 'in-process': {
        const text = await inProcess.load(file.path, timeoutMs, log.child({ hook: file.name }), signal);
        return [await this.#parsed(file, owner, text, 'configuration')];
      }
      case 'http':
        return [await this.#parsed(file, owner, await http.load(file.path, log.child({ hook: file.name })))];
    }
  }

  /** Tries `--config` first: a file that refuses it may be a batch file. */
  async #loadExecutable(file: HookFile, owner: HookOwner, signal: AbortSignal): Promise<readonly Hook[]> {
    // A script that does not look at its arguments would do its work for `hook config`.
    const mayBeBatch = file.isNamedBatch === true || isElf(file.path);
    const env = mayBeBatch ? QUIET : {};
    const single = await this.#request(file, ['--config'], env, signal);
    if (!mayBeBatch || !isRefusal(single)) {
      const problem = configProblem('--config', single);
      if (problem !== undefined) throw noConfig(file, problem);
      return [await this.#parsed(file, owner, single.stdout, '--config')];
    }
    return await this.#loadBatch(file, owner, single, signal);
  }

  /** @param refused how the file ended for `--config` */
  async #loadBatch(
    file: HookFile,
    owner: HookOwner,
    { outcome }: ProcessResult,
    signal: AbortSignal,
  ): Promise<readonly Hook[]> {
    const env = batchEnvironment(owner, 'error');
    // Before the call: a file that is replaced during the call must not pass for the one that responded.
    const mark = fileMark(file.path);
    const result = await this.#request(file, BATCH_CONFIG, env, signal);
    const command = BATCH_CONFIG.join(' ');
    const { text, failure } = configOutput(result.stdout);
    const problem = failure ?? configProblem(command, result);
    const why = `--config ${endText(outcome)} and printed nothing, so that it is called as a batch hook`;
    const advice = `run \`${file.path} ${command}\` and correct what it reports`;
    if (problem !== undefined) throw noConfig(file, `${why}: ${advice}: ${problem}`);
    try {
      const config = await parseBatchConfig(text, owner.type, this.#options.parser, readinessQueue(owner));
      const { hooks, readiness, hasSettingsCheck } = config;
      if (hooks.length === 0 && readiness === undefined && !hasSettingsCheck)
        throw new OperatorError('HOOK_CONFIG_INVALID', 'it lists no hooks');
      const { isNamedBatch: _isNamed, ...own } = file;
      return hooksOfBatch(own, owner, config, mark);
    } catch (error) {
      const withAdvice = `${messageOf(error)}; ${advice}`;
      throw invalid(file, owner, command, withAdvice, error, shownOutput(text, command));
    }
  }

  /** @param source what the configuration comes from; for messages about what it printed */
  async #parsed(
    file: HookFile,
    owner: HookOwner,
    text: string,
    source?: '--config' | 'configuration',
  ): Promise<Hook> {
    const { isNamedBatch: _isNamed, ...own } = file;
    try {
      return { ...own, owner, config: await this.#options.parser.parse(text, owner.type) };
    } catch (error) {
      throw invalid(
        file,
        owner,
        source ?? 'configuration',
        messageOf(error),
        error,
        source === undefined ? '' : shownOutput(text),
      );
    }
  }

  /** Starts the file with the given arguments and waits for its end. @throws OperatorError HOOK_CONFIG_INVALID */
  async #request(
    file: HookFile,
    args: readonly string[],
    more: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ProcessResult> {
    const { runner, env, cwd, timeoutMs } = this.#options;
    if (file.python?.problem !== undefined) throw noConfig(file, file.python.problem);
    const command = hookCommand(file, args);
    return await runner
      .run(
        {
          ...command,
          cwd,
          env: { ...env, ...command.env, ...more },
          timeoutMs,
          graceMs: GRACE_MS,
          captureStdoutBytes: MAX_CONFIG_BYTES,
        },
        signal,
      )
      .catch((error: unknown) => {
        if (signal.aborted) throw error;
        throw noConfig(file, messageOf(error), error);
      });
  }
}

const BATCH_CONFIG = ['hook', 'config'];
/** A record about the unknown argument would be taken for a configuration. */
const QUIET = { LOG_LEVEL: 'FATAL' };

function noConfig(file: HookFile, why: string, cause?: unknown): OperatorError {
  return new OperatorError('HOOK_CONFIG_INVALID', `cannot get config for hook '${file.path}': ${why}`, {
    cause,
  });
}

function invalid(
  file: HookFile,
  owner: HookOwner,
  source: string,
  problem: string,
  cause: unknown,
  shown: string,
): OperatorError {
  return new OperatorError(
    'HOOK_CONFIG_INVALID',
    // A headline ends before what a program printed.
    `${title(owner)} hook '${file.name}' ${source} invalid: ${problem}${shown === '' ? '' : `\n${shown}`}`,
    { cause },
  );
}

/** Two probes of a module would contradict each other. */
function refuseSecondProbe(hooks: readonly Hook[]): void {
  const [first, second] = hooks.filter(({ batch }) => batch?.type === 'readiness');
  if (first !== undefined && second !== undefined)
    throw new OperatorError(
      'HOOK_CONFIG_INVALID',
      `cannot get config for hook '${second.path}': it has a readiness probe, and ${first.path} has one too: remove one of them`,
    );
}

/** The file knows nothing of `--config`: it failed, and printed nothing. */
function isRefusal({ outcome, stdout }: ProcessResult): boolean {
  return outcome.type === 'exited' && outcome.exitCode !== 0 && stdout.trim() === '';
}

function configProblem(
  command: string,
  { outcome, stdout, stderr, isStdoutTruncated }: ProcessResult,
): string | undefined {
  if (outcome.type === 'exited' && outcome.exitCode === 0)
    return isStdoutTruncated ? `${command} printed more than ${MAX_CONFIG_BYTES} bytes` : undefined;
  return `${reasonWithOutput(`${command} ${endText(outcome)}`, stderr)}${shownOutput(stdout, command)}`;
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
function shownOutput(stdout: string, command = '--config'): string {
  const text = stdout.trim();
  if (text === '') return '';
  const isLong = text.length > MAX_SHOWN_CHARACTERS;
  return `\nhook ${command.replace(/^hook /u, '')} output: ${isLong ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text}`;
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
