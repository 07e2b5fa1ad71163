import { parseJson } from '@addon-operator/json';
import { contextText } from '../hooks/context-document.ts';
import { NO_OUTPUTS } from '../hooks/http/hook-response.ts';
import type { HookRunResult, HookRuns } from '../hooks/run-hook.ts';

/** The input of a run of a hook, and its output. */
export interface TappedRun {
  /** JSON of the binding contexts. */
  readonly contexts: string;
  /** Undefined for a run that failed, and for one that only shows its contexts. */
  readonly outputs: HookRunResult['outputs'] | undefined;
}

/** Keeps what goes in and out of the last run. */
export class HookTap {
  readonly #isDry: boolean;
  #last: TappedRun | undefined;

  /** @param isDry whether hooks are not run at all: each run then is one that writes nothing */
  constructor(isDry: boolean) {
    this.#isDry = isDry;
  }

  /** The last run; undefined before the first one has its contexts. */
  get last(): TappedRun | undefined {
    return this.#last;
  }

  /** The binding contexts of the last run; none before the first one. */
  get contexts(): unknown {
    return parseJson(this.#last?.contexts ?? '[]');
  }

  /** The same runs, with this tap in between. */
  around(runs: HookRuns): HookRuns {
    return {
      run: async (hook, inputs, log, signal) => {
        const contexts = await contextText(inputs.bindingContext);
        this.#last = { contexts, outputs: undefined };
        const result = this.#isDry
          ? NOTHING
          : await runs.run(hook, { ...inputs, bindingContext: contexts }, log, signal);
        this.#last = { contexts, outputs: result.outputs };
        return result;
      },
    };
  }
}

const NOTHING: HookRunResult = { outputs: NO_OUTPUTS };
