/**
 * Admits modules under a policy and runs only verified copies. Discovery (`modules/find-modules.ts`) calls `admit`
 * for each module, `reconcile/module-files.ts` calls `settle`. `admit` reads every file once: what is hashed is what is copied, so a later change of the
 * source has no effect. `verify` repeats the check before a run. A refusal concerns one module; an error of the disk is
 * thrown, because it concerns all of them.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { AuthorizationPolicy, Candidate } from './authorization-policy.ts';
import { contentDigest } from './content-manifest.ts';
import { readContent, refused } from './module-content.ts';
import type { ModuleGate } from './module-gate.ts';
import { readCandidate } from './read-candidate.ts';

interface ModuleAuthorizationOptions {
  readonly policy: AuthorizationPolicy;
  /** An empty directory of ours, for copies of modules. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** A copy that was checked. */
interface Copy {
  readonly candidate: Candidate;
  readonly digest: string;
}

/**
 * Lets modules run that a policy authorizes, and only as the copies that were checked. Equal contents have equal copies:
 * where nothing has changed, a module keeps its path.
 */
export class ModuleAuthorization implements ModuleGate {
  readonly #options: ModuleAuthorizationOptions;
  /** By path. */
  readonly #copies = new Map<string, Copy>();
  /** Undefined before the first time. */
  #settled: ReadonlySet<string> | undefined;

  constructor(options: ModuleAuthorizationOptions) {
    this.#options = options;
  }

  /**
   * Removes copies that are not used. Those that were used before this call are kept until the next
   * one, since a run that has begun may read them still.
   *
   * @param used paths of the copies that modules run from now on
   */
  async settle(used: ReadonlySet<string>): Promise<void> {
    const kept = new Set([...used, ...(this.#settled ?? this.#copies.keys())]);
    this.#settled = used;
    for (const path of this.#copies.keys()) {
      if (kept.has(path)) continue;
      this.#copies.delete(path);
      await rm(dirname(path), { recursive: true, force: true });
    }
  }

  async admit(name: string, source: string, isReturn = false): ReturnType<ModuleGate['admit']> {
    const { policy, signal } = this.#options;
    const place = await this.#makeDirectory();
    // Links can lead to the root, which has no name.
    const copy = join(place, basename(source) || name);
    let path: string | undefined;
    try {
      await mkdir(copy, { mode: 0o700 });
      const candidate = await readCandidate(name, source, { copyTo: copy }, signal);
      await policy.check({ ...candidate, isReturn }, signal);
      const { digest } = await candidate.content();
      // An unchanged module keeps its path, so that hooks in progress and watchers of files see no change.
      path = (await this.#sameAs({ candidate, digest }, basename(copy))) ?? copy;
      this.#copies.set(path, { candidate, digest });
      return { type: 'admitted', path };
    } catch (error) {
      signal.throwIfAborted();
      if (!hasCode(error, 'MODULE_UNAUTHORIZED')) throw this.#cannotStage(error);
      return { type: 'refused', reason: error.message };
    } finally {
      // The new copy is not needed: it was refused, or an equal one exists.
      if (path !== copy) await rm(place, { recursive: true, force: true });
    }
  }

  /**
   * Whether a module may be run still, by what the policy says now, and is what was admitted.
   *
   * @param path of the copy
   * @throws OperatorError MODULE_UNAUTHORIZED, permanent; `signal.reason`
   */
  async verify(module: string, path: string, signal: AbortSignal): Promise<void> {
    try {
      const copy = this.#copies.get(path);
      if (copy === undefined) throw refused(`${path} is not a verified copy`);
      if (!(await isAsIn(path, copy, signal)))
        throw refused(`its copy ${path} was changed after verification`);
      await this.#options.policy.check(copy.candidate, signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (!hasCode(cause, 'MODULE_UNAUTHORIZED')) throw cause;
      throw refused(`Module ${module} is not authorized: ${cause.message}`, cause);
    }
  }

  /** The copy that is like this one already. */
  async #sameAs(copy: Copy, directoryName: string): Promise<string | undefined> {
    for (const [path, { digest }] of this.#copies) {
      if (digest !== copy.digest || basename(path) !== directoryName) continue;
      if (await isAsIn(path, copy, this.#options.signal)) return path;
    }
    return undefined;
  }

  async #makeDirectory(): Promise<string> {
    try {
      return await mkdtemp(join(this.#options.directory, 'copy-'));
    } catch (cause) {
      throw this.#cannotStage(cause);
    }
  }

  #cannotStage(cause: unknown): unknown {
    if (!(cause instanceof Error) || !('syscall' in cause)) return cause;
    return new OperatorError(
      'MODULE_INVALID',
      `cannot copy modules to ${this.#options.directory}: ${messageOf(cause)}; check space and permissions there (--auth-staging-dir)`,
      { cause },
    );
  }
}

/** Whether the files at a path have this content. */
async function isAsIn(path: string, { candidate, digest }: Copy, signal: AbortSignal): Promise<boolean> {
  const { name } = candidate;
  try {
    return contentDigest({ name, files: await readContent(path, {}, signal) }) === digest;
  } catch (error) {
    if (hasCode(error, 'MODULE_UNAUTHORIZED')) return false;
    throw error;
  }
}
