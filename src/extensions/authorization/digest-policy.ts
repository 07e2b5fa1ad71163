import { messageOf } from '../../lib/errors.ts';
import type { AuthorizationPolicy } from './authorization-policy.ts';
import { type Lock, readLockFile } from './lock-file.ts';
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
