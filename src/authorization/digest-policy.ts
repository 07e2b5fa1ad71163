/** The policy `digest`: a module may run if a lock file lists its digest. The file is read again for each check. */

import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import type { AuthorizationPolicy } from './authorization-policy.ts';
import { refused } from './module-content.ts';

/** Modules are authorized that a lock file lists with the digest they have. */
export function digestPolicy(lockFile: string): AuthorizationPolicy {
  return {
    check: async (candidate) => {
      const listed = (await read(lockFile)).get(candidate.name);
      if (listed === undefined) throw refused(`the lock file ${lockFile} does not list it`);
      const { digest } = await candidate.content();
      if (listed !== digest)
        throw refused(`its digest is ${digest}, the lock file ${lockFile} says ${listed}`);
    },
  };
}

async function read(lockFile: string): Promise<Lock> {
  try {
    return await readLockFile(lockFile);
  } catch (cause) {
    throw refused(`the lock file cannot be used: ${messageOf(cause)}`, cause);
  }
}

const VERSION = 1;
const DIGEST = /^sha256:[0-9a-f]{64}$/u;

/** Content digests of modules by name. */
export type Lock = ReadonlyMap<string, string>;

/** @throws Error saying what is wrong with the file */
export async function readLockFile(path: string): Promise<Lock> {
  const content = await readFile(path, 'utf8');
  try {
    return parseLock(content);
  } catch (cause) {
    throw new Error(`${path}: ${messageOf(cause)}`, { cause });
  }
}

/** @throws Error saying what is wrong with the text */
function parseLock(content: string): Lock {
  const file: unknown = parseJson(content);
  if (!isObject(file)) throw new Error('expected a JSON object');
  const { version, modules } = file;
  if (version !== VERSION) throw new Error(`expected "version": ${VERSION}`);
  if (!isObject(modules)) throw new Error('expected "modules", an object with a digest for each module');
  const entries = Object.entries(modules).map(([name, digest]): readonly [string, string] => {
    if (typeof digest === 'string' && DIGEST.test(digest)) return [name, digest];
    throw new Error(`modules.${name}: expected sha256: and 64 hex digits`);
  });
  return new Map(entries);
}

/** The text of a lock file, one line for each module. */
export function lockText(lock: Lock): string {
  const modules = Object.fromEntries([...lock].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version: VERSION, modules }, undefined, 2)}\n`;
}
