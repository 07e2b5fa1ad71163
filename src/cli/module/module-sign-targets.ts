import { realpath } from 'node:fs/promises';
import { basename, resolve, sep } from 'node:path';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { CandidateContent } from '../../authorization/authorization-policy.ts';
import { readCandidate } from '../../authorization/read-candidate.ts';
import { parseDirectoryName } from '../../modules/module-name.ts';
import { isPlace, modulePlaces } from '../../modules/modules-directory.ts';
import { readSetting } from '../../settings/read-settings.ts';
import type { CliHost } from '../cli-host.ts';

/** A module on disk. */
export interface Target {
  readonly name: string;
  readonly directory: string;
}

/**
 * The modules that words of a command line mean: a path where there is a slash or a dot, else the name of a module in the
 * modules directories, or that of its directory. Without words all of those, as the daemon would find them.
 *
 * @throws OperatorError MODULE_INVALID for a module that does not exist
 */
export async function findTargets(
  words: readonly string[],
  flags: Readonly<Record<string, string>>,
  host: CliHost,
): Promise<readonly Target[]> {
  const isPath = (word: string): boolean => word.includes(sep) || word === '.' || word === '..';
  const dirs = readSetting('modulesDirs', { env: host.env, flags });
  const known = words.every(isPath) && words.length > 0 ? [] : await knownTargets(dirs, host);
  if (words.length === 0) return known;
  return Promise.all(
    words.map(async (word) => {
      if (isPath(word)) return pathTarget(resolve(host.cwd, word));
      const target =
        known.find(({ name }) => name === word) ??
        known.find(({ directory }) => basename(directory) === word);
      if (target !== undefined) return target;
      throw new OperatorError(
        'MODULE_INVALID',
        `no module ${word} in ${dirs.join(':')} (--modules-dir); to name a directory, write ./${word}`,
      );
    }),
  );
}

/** Reads a module as a daemon would. @throws OperatorError MODULE_UNAUTHORIZED naming it, for what no module may have */
export async function readTarget({ name, directory }: Target, host: CliHost): Promise<CandidateContent> {
  try {
    const candidate = await readCandidate(name, directory, {}, host.stopSignal());
    return await candidate.content();
  } catch (cause) {
    if (!hasCode(cause, 'MODULE_UNAUTHORIZED')) throw cause;
    throw new OperatorError(cause.code, `module ${name}: ${cause.message}`, { cause });
  }
}

async function knownTargets(dirs: readonly string[], host: CliHost): Promise<readonly Target[]> {
  const targets = new Map<string, Target>();
  for (const dir of dirs.map((path) => resolve(host.cwd, path))) {
    const places = await modulePlaces(dir, { defaultOrder: 0 }).catch((cause: unknown) => {
      if (cause instanceof OperatorError) throw cause;
      throw new OperatorError('MODULE_INVALID', `cannot read modules directory ${dir}: ${messageOf(cause)}`, {
        cause,
      });
    });
    for (const { name, path: directory, content } of places.filter(isPlace))
      if (content.type !== 'unreadable' && !targets.has(name)) targets.set(name, { name, directory });
  }
  return [...targets.values()];
}

async function pathTarget(path: string): Promise<Target> {
  try {
    return { name: parseDirectoryName(basename(path)).name, directory: await realpath(path) };
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError('MODULE_INVALID', `cannot read the module ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}
