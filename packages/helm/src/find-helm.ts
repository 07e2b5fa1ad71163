import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { rememberedVersion, rememberVersion } from '@addon-operator/process/remembered-version';

/** A helm executable and what its version can do. */
export interface HelmBinary {
  /** Absolute path. */
  readonly path: string;
  /** As helm prints it, without the `v`: `3.17.3`, `3.19`, `4.1.4+g12`. */
  readonly version: string;
  readonly major: 3 | 4;
  readonly minor: number;
}

/** Oldest 3.x that takes labels for its release records and the flags we rely on. */
const OLDEST_MINOR_OF_3 = 14;
const TAKE_OWNERSHIP_MINOR = 17;

/**
 * A version as `helm version` prints it. A helm built with `go install` has no patch number, and one built from a checkout
 * has a pre-release or a build suffix.
 */
const VERSION = /^v?((\d+)(?:\.(\d+))?(?:\.\d+)?(?:[-+]\S*)?)$/;

/**
 * Reads the output of `helm version --template {{.Version}}`. Any version with a major and a minor number is accepted;
 * helm 4 needs no minor number, because every helm 4 is new enough.
 *
 * @returns undefined for anything but helm 3.14 or newer and helm 4
 */
export function parseHelmVersion(path: string, output: string): HelmBinary | undefined {
  const match = VERSION.exec(output.trim());
  if (match === null) return undefined;
  const [, version = '', majorText, minorText] = match;
  const major = Number(majorText);
  const minor = Number(minorText ?? '0');
  if (major === 3 && minor >= OLDEST_MINOR_OF_3) return { path, version, major, minor };
  return major === 4 ? { path, version, major, minor } : undefined;
}

/** Whether helm can adopt objects that exist without helm's metadata. */
export function canTakeOwnership(helm: HelmBinary): boolean {
  return helm.major === 4 || helm.minor >= TAKE_OWNERSHIP_MINOR;
}

const VERSION_LIMIT_MS = 30_000;
const GRACE_MS = 1_000;
const HOW_TO_INSTALL =
  'Install helm 3.14 or newer, or helm 4 (https://helm.sh/docs/intro/install/), into PATH, or name it in HELM_BIN_PATH.';

interface FindHelmOptions {
  readonly runner: ProcessRunner;
  /** `HELM_BIN_PATH`; empty looks in `PATH`. */
  readonly helmBinPath: string;
  /** `PATH` of the environment. */
  readonly path: string;
  /** A helm of our own for machines without one; rejects where there is none. */
  readonly pinned: (signal: AbortSignal) => Promise<string>;
  /** A private file in which the version of the executable is kept: a restart then runs no helm only to read it. */
  readonly versionFile: string;
}

/**
 * The helm to use: `HELM_BIN_PATH`, else the first in `PATH`, else the pinned copy.
 *
 * @throws OperatorError HELM_NOT_FOUND when there is none, or its version is not supported
 */
export async function findHelm(options: FindHelmOptions, signal: AbortSignal): Promise<HelmBinary> {
  const path = await locate(options, signal);
  const known = rememberedVersion(options.versionFile, path);
  const output = known ?? (await readVersion(path, options.runner, signal));
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

async function readVersion(path: string, runner: ProcessRunner, signal: AbortSignal): Promise<string> {
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
