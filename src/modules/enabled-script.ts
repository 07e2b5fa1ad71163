import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { OperatorError } from '../lib/errors.ts';
import { canonicalJson } from '../lib/json.ts';
import type { Logger } from '../lib/log.ts';
import type { ProcessResult, ProcessRunner, ResourceUsage } from '../process/process-runner.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleValues } from '../values/visible-values.ts';
import type { EnabledScript, ScriptVerdict } from './discovery.ts';
import { isMissingFile } from './missing-file.ts';

export interface EnabledScriptOptions {
  readonly processes: ProcessRunner;
  /** What the script of a module sees, given the modules found enabled before it. */
  readonly visible: (name: ModuleName, enabledBefore: readonly ModuleName[]) => VisibleValues;
  /** Where the script's files are made; it exists. */
  readonly tmpDir: string;
  /** Environment of the script, to which the four paths are added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly graceMs: number;
  /** Bytes of output that are logged, the rest is dropped and counted; undefined: all. */
  readonly maxOutputBytes: number | undefined;
  /** Leave the files where they are, for debugging. */
  readonly isKeepingFiles: boolean;
  readonly log: Logger;
  /** What a finished run has used. */
  readonly onUsage: (name: ModuleName, usage: ResourceUsage) => void;
}

/** Nobody needs more than this of what a script writes. */
const MAX_RESULT_BYTES = 4_096;

/**
 * Runs enabled scripts as processes. A script gets the values in two files and writes `true` or `false`, and if it likes
 * a reason, into two others; all four are private and gone when it is done.
 *
 * The scripts throw OperatorError ENABLED_SCRIPT_FAILED when a script exits with an error, is killed, takes too long or
 * writes something else, and PROCESS_SPAWN when it cannot be started. On abort they reject with `signal.reason`.
 */
export function createEnabledScript(options: EnabledScriptOptions): EnabledScript {
  return async (module, enabledBefore, signal) => {
    if (module.enabledScript === undefined) return { isEnabled: true, reason: '' };
    const files = scriptFiles(options.tmpDir, module.name);
    const log = options.log.child({ module: module.name, hook: 'enabled', binding: 'enabled' });
    try {
      prepare(files, options.visible(module.name, enabledBefore));
      const result = await options.processes.run(
        {
          file: module.enabledScript,
          args: [],
          cwd: options.cwd,
          env: {
            ...options.env,
            VALUES_PATH: files.values,
            CONFIG_VALUES_PATH: files.configValues,
            MODULE_ENABLED_RESULT: files.result,
            MODULE_ENABLED_REASON: files.reason,
          },
          ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
          graceMs: options.graceMs,
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
      if (result.usage !== undefined) options.onUsage(module.name, result.usage);
      const verdict = readVerdict(files);
      log.info({ result: verdict.isEnabled, status: verdict.reason }, 'Enabled script run successful');
      return verdict;
    } finally {
      if (!options.isKeepingFiles) remove(files);
    }
  };
}

interface ScriptFiles {
  readonly directory: string;
  readonly values: string;
  readonly configValues: string;
  readonly result: string;
  readonly reason: string;
}

/** Named as the directories of hook runs are: a start sweeps what a daemon that was killed has left. */
function scriptFiles(tmpDir: string, name: ModuleName): ScriptFiles {
  const directory = join(tmpDir, `run-${process.pid}-${name}-enabled-${randomUUID()}`);
  return {
    directory,
    values: join(directory, `${name}.module-values.json`),
    configValues: join(directory, `${name}.module-config-values.json`),
    result: join(directory, `${name}.module-enabled-result`),
    reason: join(directory, `${name}.module-enabled-reason`),
  };
}

/** Synchronous, as all that is done to these files: for files this small that costs a tenth of the other way. */
function prepare(files: ScriptFiles, { values, configValues }: VisibleValues): void {
  const contents: readonly (readonly [string, string])[] = [
    [files.values, canonicalJson(values)],
    [files.configValues, canonicalJson(configValues)],
    [files.result, ''],
    [files.reason, ''],
  ];
  mkdirSync(files.directory, { mode: 0o700 });
  for (const [path, content] of contents) writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
}

function remove({ directory, ...files }: ScriptFiles): void {
  try {
    for (const path of Object.values(files)) unlinkSync(path);
    rmdirSync(directory);
  } catch {
    // The script removed a file or left others behind: the thorough way costs more.
    rmSync(directory, { recursive: true, force: true });
  }
}

function checkOutcome({ outcome, stderr }: ProcessResult): void {
  switch (outcome.type) {
    case 'exited':
      if (outcome.exitCode === 0) return;
      throw failed(stderr.trim() || `cmd run: exit status ${outcome.exitCode}`);
    case 'signalled':
      throw failed(stderr.trim() || `cmd run: signal: ${outcome.signal}`);
    case 'timed-out':
      throw failed(`it did not end within ${outcome.timeoutMs / 1000} s`);
  }
}

function readVerdict(files: ScriptFiles): ScriptVerdict {
  const word = readStart(files.result);
  if (word === 'true') return { isEnabled: true, reason: '' };
  if (word === 'false') return { isEnabled: false, reason: readStart(files.reason) };
  throw failed(`bad enabled result: expected 'true' or 'false', got '${word.slice(0, 100)}'`);
}

/** The trimmed beginning of a file; empty if the script removed it. */
function readStart(path: string): string {
  let descriptor: number;
  try {
    // A pipe in its place must not hold up the discovery.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissingFile(cause)) return '';
    throw cause;
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw failed(`${basename(path)} is no regular file any more`);
    const buffer = Buffer.alloc(MAX_RESULT_BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer)).trim();
  } finally {
    closeSync(descriptor);
  }
}

function failed(why: string): OperatorError {
  return new OperatorError('ENABLED_SCRIPT_FAILED', why);
}
