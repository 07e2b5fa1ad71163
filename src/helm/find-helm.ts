import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { OperatorError } from '../lib/errors.ts';
import type { ProcessRunner } from '../process/process-runner.ts';
import { type HelmBinary, parseHelmVersion } from './helm-binary.ts';
import { rememberedVersion, rememberVersion } from './helm-version-file.ts';

const VERSION_LIMIT_MS = 30_000;
const GRACE_MS = 1_000;
const HOW_TO_INSTALL =
  'Install helm 3.14 or newer, or helm 4 (https://helm.sh/docs/intro/install/), into PATH, or name it in HELM_BIN_PATH.';

export interface FindHelmOptions {
  readonly runner: ProcessRunner;
  /** `HELM_BIN_PATH`; empty looks in `PATH`. */
  readonly helmBinPath: string;
  /** `PATH` of the environment. */
  readonly path: string;
  /** A helm of our own for machines without one; rejects where there is none. */
  readonly pinned: (signal: AbortSignal) => Promise<string>;
  /** A private file in which the version of the executable is kept: a restart then starts no helm only to ask for it. */
  readonly versionFile: string;
}

/**
 * The helm to use: `HELM_BIN_PATH`, else the first in `PATH`, else the pinned copy.
 *
 * @throws OperatorError HELM_NOT_FOUND when there is none, or it does not tell a version we can drive
 */
export async function findHelm(options: FindHelmOptions, signal: AbortSignal): Promise<HelmBinary> {
  const path = await locate(options, signal);
  const known = rememberedVersion(options.versionFile, path);
  const output = known ?? (await askVersion(path, options.runner, signal));
  const helm = parseHelmVersion(path, output);
  if (helm !== undefined) {
    if (known === undefined) rememberVersion(options.versionFile, path, output);
    return helm;
  }
  throw new OperatorError(
    'HELM_NOT_FOUND',
    `Cannot use "${path}": it reports version "${output.trim().slice(0, 80)}". ${HOW_TO_INSTALL}`,
  );
}

async function locate(options: FindHelmOptions, signal: AbortSignal): Promise<string> {
  const { helmBinPath } = options;
  if (helmBinPath !== '') {
    const found = helmBinPath.includes('/') ? resolve(helmBinPath) : inPath(helmBinPath, options.path);
    if (found !== undefined && isExecutable(found)) return found;
    throw new OperatorError(
      'HELM_NOT_FOUND',
      `Cannot find helm: HELM_BIN_PATH names "${helmBinPath}", which is not an executable file. ${HOW_TO_INSTALL}`,
    );
  }
  const found = inPath('helm', options.path);
  if (found !== undefined) return found;
  try {
    return await options.pinned(signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new OperatorError(
      'HELM_NOT_FOUND',
      `Cannot find helm: it is not in PATH, and no pinned copy is available. ${HOW_TO_INSTALL}`,
      { cause },
    );
  }
}

function inPath(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function askVersion(path: string, runner: ProcessRunner, signal: AbortSignal): Promise<string> {
  const result = await runner
    .run(
      {
        file: path,
        args: ['version', '--template', '{{.Version}}'],
        cwd: '/',
        env: {},
        timeoutMs: VERSION_LIMIT_MS,
        graceMs: GRACE_MS,
        captureStdoutBytes: 1024,
      },
      signal,
    )
    .catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new OperatorError('HELM_NOT_FOUND', `Cannot start "${path}". ${HOW_TO_INSTALL}`, { cause });
    });
  const { outcome } = result;
  if (outcome.type === 'exited' && outcome.exitCode === 0) return result.stdout;
  throw new OperatorError(
    'HELM_NOT_FOUND',
    `Cannot use "${path}": \`helm version\` failed (${result.stderr.trim().slice(-200) || outcome.type}). ${HOW_TO_INSTALL}`,
  );
}
