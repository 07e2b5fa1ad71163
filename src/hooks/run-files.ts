/**
 * The files of one run: inputs that the daemon writes, outputs that it reads. They are in a private directory that is
 * created before the run and removed after it. Hooks are not trusted with them: outputs are opened without following
 * links, sizes are bounded, and replaced files are detected.
 */

import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { CHANNEL_PREFIX } from '@addon-operator/process/byte-channel';
import type { HookOutputContents, HookRunContents } from '@addon-operator/sdk/host';
import { withoutByteOrderMark } from '@addon-operator/strings/byte-order-mark';
import {
  closeInputs,
  FILE_MODE,
  type MadeDirectory,
  replacedFiles,
  SPARE_PREFIX,
  type SpareDirectories,
} from './spare-directories.ts';

/** The private directory of one run, with its input and output files. */
export interface RunFiles {
  /** The `*_PATH` variables that name the files. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Bytes that are no UTF-8 are read as U+FFFD, as JSON parsers do.
   *
   * @param onInvalidText called with the variable of each file with such bytes
   * @throws OperatorError HOOK_OUTPUT_INVALID when an output is no regular file or too large
   */
  readOutputs(onInvalidText: (variable: string) => void): HookOutputContents;
  /**
   * Checks that the files are those that were made for the run, and can still be read and written: some programs do not
   * report what they could not read or write.
   *
   * @throws OperatorError HOOK_OUTPUT_INVALID naming the variables of the others
   */
  assertInPlace(): void;
  /**
   * The content of the retry file; empty if the hook wrote nothing, and for hooks that are not given the file.
   *
   * @throws OperatorError HOOK_OUTPUT_INVALID when it is no regular file or too large
   */
  readRetry(): string;
  /** Fills the file with the binding contexts, piece by piece. */
  writeContexts(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /**
   * Removes the file with the binding contexts, if that is possible: to be called first where it may be large, since a file
   * system takes its time to free many MB.
   */
  removeContexts(): Promise<void>;
  remove(): void;
  /** As `remove`, for a run that went well: its files, emptied, may serve the next run. */
  recycle(): void;
}

const DIRECTORY_PREFIX = 'run-';
/** Names of directories that a daemon left behind, with the pid of its process. */
const SWEPT = new RegExp(`^(?:${DIRECTORY_PREFIX}|${SPARE_PREFIX}|${CHANNEL_PREFIX})(\\d+)-`);
const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** Variables and file names of inputs. */
const INPUTS = {
  bindingContext: ['BINDING_CONTEXT_PATH', 'binding-context.json'],
  values: ['VALUES_PATH', 'values.json'],
  configValues: ['CONFIG_VALUES_PATH', 'config-values.json'],
} as const;
/** Variables and file names of outputs. */
const OUTPUTS = {
  configValuesPatch: ['CONFIG_VALUES_JSON_PATCH_PATH', 'config-values.json-patch'],
  valuesPatch: ['VALUES_JSON_PATCH_PATH', 'values.json-patch'],
  metrics: ['METRICS_PATH', 'metrics.json'],
  kubernetesPatch: ['KUBERNETES_PATCH_PATH', 'kubernetes-patch'],
  admissionResponse: ['VALIDATING_RESPONSE_PATH', 'admission-response.json'],
  conversionResponse: ['CONVERSION_RESPONSE_PATH', 'conversion-response.json'],
} as const;
const INPUT_FILES = entries(INPUTS);
const INPUT_NAMES: readonly string[] = Object.values(INPUTS).map(([, name]) => name);
/** The variable of an output and the name of its file. */
type OutputFile = (typeof OUTPUTS)[keyof typeof OUTPUTS];
const OUTPUT_FILES: readonly OutputFile[] = Object.values(OUTPUTS);
const OUTPUT_NAMES: readonly string[] = OUTPUT_FILES.map(([, name]) => name);
/** The files exist already, empty. */
const WRITE_INPUT = constants.O_WRONLY | constants.O_NOFOLLOW;
/** Where a hook with exit codes for temporary failures says when to repeat the run. It makes the file itself. */
const RETRY = ['RETRY_PATH', 'retry.json'] as const;
/** The other name of the file with the response to an admission request. */
const ADMISSION_RESPONSE = 'ADMISSION_RESPONSE_PATH';

/**
 * Makes the files of one run: a directory that only the daemon's user may enter (0700), files 0600, outputs empty.
 * The calls are synchronous on purpose: for files this small they cost a tenth of their asynchronous forms.
 *
 * @param label part of the directory name, which identifies the run when files are kept for debugging
 * @param spares where the directory may come from, and may go to when it is recycled; default: none
 * @param hasRetryFile whether the hook is given a file in which it says when to repeat the run
 */
export function createRunFiles(
  tmpDir: string,
  label: string,
  inputs: HookRunContents,
  spares?: SpareDirectories,
  hasRetryFile = false,
): RunFiles {
  const directory = join(tmpDir, `${DIRECTORY_PREFIX}${process.pid}-${sanitize(label)}-${randomUUID()}`);
  const env: Record<string, string> = {};
  /** State of the output files when they were read, by name. */
  const found = new Map<string, Stats>();
  let made: MadeDirectory | undefined;
  try {
    made = spares?.take(directory) ?? makeDirectory(directory);
    for (const [key, [variable, name]] of INPUT_FILES) {
      env[variable] = `${directory}/${name}`;
      writeInput(made, name, directory, inputs[key]);
    }
    for (const [variable, name] of OUTPUT_FILES) env[variable] = `${directory}/${name}`;
    env[ADMISSION_RESPONSE] = env[OUTPUTS.admissionResponse[0]] ?? '';
    if (hasRetryFile) env[RETRY[0]] = `${directory}/${RETRY[1]}`;
    // They are not used again.
    if (spares === undefined) closeInputs(made);
  } catch (error) {
    if (made !== undefined) closeInputs(made);
    removeDirectory(directory);
    throw notWritten(tmpDir, error);
  }
  const remove = (): void => {
    closeInputs(made);
    removeDirectory(directory);
  };
  return {
    env,
    writeContexts: async (pieces, signal) => {
      try {
        await writePieces(join(directory, INPUTS.bindingContext[1]), pieces, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw notWritten(tmpDir, error);
      }
    },
    readOutputs: (onInvalidText) => {
      const read = ([variable, name]: OutputFile): string => {
        const path = `${directory}/${name}`;
        const stats = lstatSync(path, { throwIfNoEntry: false });
        if (stats !== undefined) found.set(name, stats);
        // Most hooks write one file or none.
        return stats?.isFile() && stats.size === 0 ? '' : readOutput(path, variable, onInvalidText);
      };
      return {
        configValuesPatch: read(OUTPUTS.configValuesPatch),
        valuesPatch: read(OUTPUTS.valuesPatch),
        metrics: read(OUTPUTS.metrics),
        kubernetesPatch: read(OUTPUTS.kubernetesPatch),
        admissionResponse: read(OUTPUTS.admissionResponse),
        conversionResponse: read(OUTPUTS.conversionResponse),
      };
    },
    assertInPlace: () => {
      const names = replacedFiles(directory, made);
      if (names.length === 0) return;
      const variables = [...INPUT_FILES, ...entries(OUTPUTS)]
        .filter(([, [, name]]) => names.includes(name))
        .map(([, [variable]]) => `$${variable}`);
      throw new OperatorError(
        'HOOK_OUTPUT_INVALID',
        `${variables.join(', ')}: removed, replaced or made unusable during the run, so that the hook may have read nothing, or written elsewhere`,
      );
    },
    readRetry: () => {
      const path = `${directory}/${RETRY[1]}`;
      if (!hasRetryFile || lstatSync(path, { throwIfNoEntry: false }) === undefined) return '';
      return readOutput(path, RETRY[0], () => undefined);
    },
    removeContexts: () =>
      rm(join(directory, INPUTS.bindingContext[1]), { force: true }).catch(() => undefined),
    remove,
    recycle: () => {
      if (spares?.give(directory, made, found) !== true) remove();
    },
  };
}

/**
 * Never throws: the result of the run counts, and the reason why its files could not be written. A removal that failed,
 * for want of descriptors for example, is repeated for a minute; what is still there then goes at the next start.
 */
function removeDirectory(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 1_000 }).catch(() => undefined);
  }
}

function notWritten(tmpDir: string, cause: unknown): OperatorError {
  return new OperatorError(
    'HOOK_EXEC',
    `Cannot write the input files of a hook in ${tmpDir}: ${messageOf(cause)}; check the space and permissions there or set --tmp-dir`,
    { cause },
  );
}

function writeInput({ open: opened }: MadeDirectory, name: string, directory: string, text: string): void {
  if (text === '') return;
  let descriptor = opened.get(name);
  if (descriptor === undefined) {
    descriptor = openSync(`${directory}/${name}`, WRITE_INPUT);
    opened.set(name, descriptor);
  }
  const written = writeSync(descriptor, text, 0);
  if (written < Buffer.byteLength(text)) writeFrom(descriptor, Buffer.from(text), written);
}

/** Continues a write that was only partly done, as for more than 2 GB. */
function writeFrom(descriptor: number, bytes: Buffer, from: number): void {
  for (let written = from; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, written);
}

async function writePieces(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, WRITE_INPUT);
  for await (const piece of pieces) {
    signal.throwIfAborted();
    await file.writeFile(piece);
  }
}

/** The directory with all files in it, empty. */
function makeDirectory(directory: string): MadeDirectory {
  mkdirSync(directory, { mode: 0o700 });
  const open = new Map<string, number>();
  try {
    const inputs = new Map<string, number>();
    for (const name of INPUT_NAMES) {
      const descriptor = openSync(`${directory}/${name}`, 'wx', FILE_MODE);
      open.set(name, descriptor);
      inputs.set(name, fstatSync(descriptor).ino);
    }
    const outputs = new Map<string, number>();
    for (const name of OUTPUT_NAMES) {
      const descriptor = openSync(`${directory}/${name}`, 'wx', FILE_MODE);
      outputs.set(name, fstatSync(descriptor).ino);
      closeSync(descriptor);
    }
    return { inode: lstatSync(directory).ino, inputs, outputs, open };
  } catch (error) {
    closeInputs({ open });
    throw error;
  }
}

function entries<T extends object>(table: T): readonly [keyof T, T[keyof T]][] {
  return Object.entries(table) as [keyof T, T[keyof T]][];
}

function readOutput(path: string, variable: string, onInvalidText: (variable: string) => void): string {
  let descriptor: number | undefined;
  try {
    // An output must not be a link to another file or a pipe that never ends.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > MAX_OUTPUT_BYTES)
      throw new Error(`it has ${stats.size} bytes, more than the limit of ${MAX_OUTPUT_BYTES}`);
    if (stats.size === 0) return '';
    const bytes = readFileSync(descriptor);
    if (!isUtf8(bytes)) onInvalidText(variable);
    return withoutByteOrderMark(bytes.toString('utf8'));
  } catch (error) {
    throw new OperatorError(
      'HOOK_OUTPUT_INVALID',
      `cannot read the file in $${variable}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Removes the directories of runs, and of the start of the launcher, that a daemon left behind which is no longer alive.
 *
 * @returns how many were removed
 */
export function sweepRunFiles(tmpDir: string): number {
  let removed = 0;
  for (const entry of readdirSync(tmpDir, { withFileTypes: true })) {
    const pid = SWEPT.exec(entry.name)?.[1];
    if (pid === undefined || !entry.isDirectory()) continue;
    // Our own number on a directory that exists already: in a container every daemon has the same one.
    if (Number(pid) !== process.pid && isAlive(Number(pid))) continue;
    rmSync(join(tmpDir, entry.name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

/** A process of another user is alive too: the signal is refused with EPERM. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Names of hooks contain slashes and dots; directory names must not. */
function sanitize(label: string): string {
  return label.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 64);
}
