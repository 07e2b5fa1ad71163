import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleSections } from '../values/visible-values.ts';
import type { Module } from './module.ts';
import type { EnabledScript, ScriptVerdict } from './module-discovery.ts';

/** What a script is given, and which file it is. */
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
 * Results of the last run of each enabled script. A result is valid while the script is the same file and would get the
 * same values and the same enabled modules before its own. Other inputs of a script, such as files or the cluster, are
 * not known here: to consider them, run the script again.
 */
export class ScriptVerdicts {
  readonly #sections: (name: ModuleName) => VisibleSections;
  readonly #known = new Map<ModuleName, KnownVerdict>();

  /** @param sections what the script of a module would be given now */
  constructor(sections: (name: ModuleName) => VisibleSections) {
    this.#sections = sections;
  }

  /** Runs every script. One that fails has no last word, whatever it said before. */
  runningAll(run: EnabledScript): EnabledScript {
    return async (module, enabledBefore, signal) => {
      this.#known.delete(module.name);
      // Values may change while the script runs.
      const basis = this.#basisOf(module, enabledBefore);
      const verdict = await run(module, enabledBefore, signal);
      if (basis !== undefined) this.#known.set(module.name, { basis, verdict });
      return verdict;
    };
  }

  /** Returns results that are still valid, and runs the other scripts. */
  runningConcerned(run: EnabledScript): EnabledScript {
    const runAnew = this.runningAll(run);
    return async (module, enabledBefore, signal) => {
      const known = this.#known.get(module.name);
      // Sections are the same objects until they change, so most of this is over at once.
      if (known !== undefined && isDeepStrictEqual(known.basis, this.#basisOf(module, enabledBefore)))
        return known.verdict;
      return await runAnew(module, enabledBefore, signal);
    };
  }

  forget(): void {
    this.#known.clear();
  }

  /** Undefined where there is no such file. */
  #basisOf({ name, enabledScript }: Module, enabledBefore: readonly ModuleName[]): Basis | undefined {
    const file = enabledScript === undefined ? undefined : fileIdentity(enabledScript);
    return file === undefined ? undefined : { file, sections: this.#sections(name), enabledBefore };
  }
}

function fileIdentity(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${path} ${file.dev} ${file.ino} ${file.ctimeNs}`;
}
