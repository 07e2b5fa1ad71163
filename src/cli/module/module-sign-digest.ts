import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { type Lock, lockText, readLockFile } from '../../authorization/digest-policy.ts';
import { readSetting } from '../../settings/read-settings.ts';
import type { CliHost } from '../cli-host.ts';
import { printData } from '../output/print-data.ts';
import { findTargets, readTarget } from './module-sign-targets.ts';

export interface DigestOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  /** None for all: then the lock file lists no others. */
  readonly modules: readonly string[];
  readonly format: 'text' | 'json';
  readonly isWriting: boolean;
}

/** Prints the digests of modules, and writes them into the lock file if requested. Returns the exit code. */
export async function digestCommand(options: DigestOptions, host: CliHost): Promise<number> {
  const { flags, modules, format, isWriting } = options;
  const targets = await findTargets(modules, flags, host);
  const digests = await Promise.all(
    targets.map(async (target): Promise<readonly [string, string]> => {
      const { digest } = await readTarget(target, host);
      return [target.name, digest];
    }),
  );
  if (isWriting) {
    const path = readSetting('authLockFile', { env: host.env, flags });
    if (path === '')
      throw new OperatorError('CONFIG_INVALID', '--write needs --auth-lock-file (AUTH_LOCK_FILE)');
    await update(resolve(host.cwd, path), digests, modules.length > 0);
  }
  const text = digests.map(([name, digest]) => `${name} ${digest}\n`).join('');
  printData(host, format === 'json' ? `${JSON.stringify(Object.fromEntries(digests))}\n` : text);
  return 0;
}

async function update(path: string, digests: Iterable<readonly [string, string]>, keepsOthers: boolean) {
  try {
    const before = keepsOthers ? await readOrNone(path) : [];
    // In one step: a daemon may read it at any moment.
    await writeFile(`${path}.new`, lockText(new Map([...before, ...digests])));
    await rename(`${path}.new`, path);
  } catch (cause) {
    throw new OperatorError('CONFIG_INVALID', `cannot write the lock file ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function readOrNone(path: string): Promise<Lock> {
  try {
    return await readLockFile(path);
  } catch (error) {
    if (isMissingFile(error)) return new Map();
    throw error;
  }
}
