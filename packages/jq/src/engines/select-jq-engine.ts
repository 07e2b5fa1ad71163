// Chooses the engine at start: the jq of PATH if it is 1.7 or newer, a binary that the user named, or the
// built-in engine. A binary that cannot be used stops the start only if it was named; with `auto` the built-
// in engine takes its place and the log says why. The version is remembered by file, so that a restart starts
// no process for it.

import { spawn } from 'node:child_process';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { findExecutable } from '@addon-operator/process/executable-file';
import { OutputHead } from '@addon-operator/process/output-ends';
import { rememberedVersion, rememberVersion } from '@addon-operator/process/remembered-version';
import { JqBinary } from './jq-binary.ts';
import { JqBuiltin } from './jq-builtin.ts';
import type { JqEngine } from './jq-engine.ts';

/** Callers try twice, and a filter without end shall be reported within five seconds. */
const DEFAULT_TIME_LIMIT_MS = 2_200;
/** For `jq --version`; generous, since the machine may be starting many processes. */
const PROBE_TIME_LIMIT_MS = 10_000;
const MAX_VERSION_BYTES = 1_024;
/** The oldest version of a binary that is named, as major × 1,000 + minor. */
const OLDEST_NAMED = 1_006;
/**
 * The oldest version that `auto` takes. An older one rounds integers beyond 2^53, so that changes of them make no event,
 * and lacks `pick`, `abs` and `if` without `else`, so that the same hook would fail on one machine only.
 */
const OLDEST_LIKE_BUILTIN = 1_007;

interface JqSelection {
  /** `auto` takes the jq of PATH if it is 1.7 or newer, else the built-in engine; `builtin`; or the path of a jq binary. */
  readonly jqPath: string;
  /** File of the program `jq-builtin-main`, by which the built-in engine runs. */
  readonly builtinProgram: string;
  /** Where `auto` looks: the value of PATH. */
  readonly pathVariable: string;
  readonly log: Logger;
  readonly clock: SteadyClock;
  /** A private file in which the version of the binary is kept: a restart then runs no jq only to read it. */
  readonly versionFile?: string;
  /** Longest time for one object, in milliseconds. Default 2,200. */
  readonly timeLimitMs?: number;
}

/** @throws OperatorError CONFIG_INVALID when `jqPath` names a binary that is not a jq of version 1.6 or newer */
export async function selectJqEngine(selection: JqSelection, signal: AbortSignal): Promise<JqEngine> {
  const { jqPath, pathVariable, log, clock, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = selection;
  const builtin = (): JqEngine => new JqBuiltin({ program: selection.builtinProgram, clock, timeLimitMs });
  if (jqPath === 'builtin') return builtin();
  const file = jqPath === 'auto' ? findExecutable('jq', pathVariable) : jqPath;
  if (file === undefined) {
    log.info({}, 'no jq in PATH: filters use the built-in engine');
    return builtin();
  }
  try {
    const version = await versionOf(file, selection, signal);
    const isBehind = version.order < OLDEST_LIKE_BUILTIN;
    if (isBehind && jqPath === 'auto') {
      const fields = { file, version: version.text };
      log.info(fields, 'jq of PATH is older than 1.7: filters use the built-in engine');
      return builtin();
    }
    if (isBehind) log.info({ file, version: version.text }, 'jq older than 1.7 rounds integers beyond 2^53');
    return new JqBinary({ file, name: `jq ${version.text}`, clock, timeLimitMs });
  } catch (error) {
    signal.throwIfAborted();
    if (jqPath !== 'auto') {
      const message = `Cannot use ${file} as jq: ${messageOf(error)}; set auto, builtin or the path of jq 1.7`;
      throw new OperatorError('CONFIG_INVALID', message, { cause: error });
    }
    log.warn({ file, error }, 'jq of PATH cannot be used: filters use the built-in engine');
    return builtin();
  }
}

interface JqVersion {
  /** For example `1.7.1`. */
  readonly text: string;
  /** Comparable: 1,007 for 1.7. */
  readonly order: number;
}

/** Reads the output of `jq --version`, for example `jq-1.7.1-apple`. Throws for anything but jq 1.6 or newer. */
export function parseJqVersion(output: string): JqVersion {
  const match = /^jq-(\d+)\.(\d+)(\S*)/.exec(output);
  if (match === null)
    throw new Error(`its version is ${JSON.stringify(output.trim())}, which is not a version of jq`);
  const [, major = '', minor = '', rest = ''] = match;
  const order = Number(major) * 1_000 + Number(minor);
  const text = `${major}.${minor}${rest}`;
  if (order < OLDEST_NAMED) throw new Error(`it is jq ${text}, older than 1.6`);
  return { text, order };
}

/** The version from the file of an earlier start if the binary is the same, else from the binary. */
async function versionOf(
  file: string,
  { versionFile, clock }: JqSelection,
  signal: AbortSignal,
): Promise<JqVersion> {
  const known = versionFile === undefined ? undefined : rememberedVersion(versionFile, file);
  const output = known ?? (await readVersion(file, clock, signal));
  const version = parseJqVersion(output);
  if (versionFile !== undefined && known === undefined) rememberVersion(versionFile, file, output);
  return version;
}

/** Runs `jq --version`. Rejects if it fails, or is killed after {@link PROBE_TIME_LIMIT_MS}. */
async function readVersion(file: string, clock: SteadyClock, signal: AbortSignal): Promise<string> {
  const ended = new AbortController();
  const child = spawn(file, ['--version'], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
  });
  const output = new OutputHead(MAX_VERSION_BYTES);
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  clock.sleep(PROBE_TIME_LIMIT_MS, ended.signal).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.on('error', reject);
  child.on('close', (code) => {
    if (code === 0) resolve();
    else reject(new Error(`${file} --version failed`));
  });
  try {
    await promise;
    return output.toString();
  } finally {
    ended.abort();
  }
}
