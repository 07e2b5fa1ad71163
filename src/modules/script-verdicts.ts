import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleSections } from '../values/visible-values.ts';
import type { Module } from './module.ts';
import type { EnabledScript, ScriptVerdict } from './module-discovery.ts';

/** The input of a script, and the identity of its file. */
interface Basis {
  readonly file: string;
  readonly sections: VisibleSections;
  readonly enabledBefore: readonly ModuleName[];
}

interface KnownVerdict {
  readonly basis: Basis;
  readonly verdict: ScriptVerdict;
}

/**
 * Caches the results of enabled scripts. A result is valid while the file of the script, its values
 * and the modules enabled before its own are the same. Other inputs, such as files or the cluster,
 * are unknown here: a full discovery therefore runs all scripts, and only a check after a change of
 * values uses the cache.
 */
export class ScriptVerdicts {
  readonly #sections: (name: ModuleName) => VisibleSections;
  readonly #known = new Map<ModuleName, KnownVerdict>();

  /** @param sections the current input of a module's script */
  constructor(sections: (name: ModuleName) => VisibleSections) {
    this.#sections = sections;
  }

  /** Runs every script. A failing one loses its cached result. */
  runningAll(run: EnabledScript): EnabledScript {
    return async (module, enabledBefore, signal) => {
      this.#known.delete(module.name);
      // Taken before the run, because values may change during it.
      const basis = this.#basisOf(module, enabledBefore);
      const verdict = await run(module, enabledBefore, signal);
      if (basis !== undefined) this.#known.set(module.name, { basis, verdict });
      return verdict;
    };
  }

  /** Returns valid cached results, and runs the other scripts. */
  runningConcerned(run: EnabledScript): EnabledScript {
    const runAnew = this.runningAll(run);
    return async (module, enabledBefore, signal) => {
      const known = this.#known.get(module.name);
      // Sections are the same objects until they change, so the comparison mostly ends at once.
      if (known !== undefined && isDeepStrictEqual(known.basis, this.#basisOf(module, enabledBefore)))
        return known.verdict;
      return await runAnew(module, enabledBefore, signal);
    };
  }

  forget(): void {
    this.#known.clear();
  }

  /** Undefined if the file does not exist. */
  #basisOf({ name, enabledScript }: Module, enabledBefore: readonly ModuleName[]): Basis | undefined {
    const file = enabledScript === undefined ? undefined : fileIdentity(enabledScript);
    return file === undefined ? undefined : { file, sections: this.#sections(name), enabledBefore };
  }
}

// The inode and the time of its last change identify a version of the file without reading it.
function fileIdentity(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${path} ${file.dev} ${file.ino} ${file.ctimeNs}`;
}
