import type { HookRunTexts } from '../../sdk/record-hook-run.ts';

/** Texts of a run as they are sent to a worker: one that is left out is the same as in the run before. */
export type SentTexts = Pick<HookRunTexts, 'bindingContext'> & Partial<HookRunTexts>;

/** The sending side: leaves out what has not changed. */
export class TextsToSend {
  #values: string | undefined;
  #configValues: string | undefined;

  /** What is to be sent; it must be sent, and nothing else to the same worker before it. */
  next({ bindingContext, values, configValues }: HookRunTexts): SentTexts {
    const sent = {
      bindingContext,
      ...(values === this.#values ? {} : { values }),
      ...(configValues === this.#configValues ? {} : { configValues }),
    };
    this.#values = values;
    this.#configValues = configValues;
    return sent;
  }
}

/** The receiving side: puts in what was left out. */
export class ReceivedTexts {
  #last: Pick<HookRunTexts, 'values' | 'configValues'> = { values: '', configValues: '' };

  next({ bindingContext, values, configValues }: SentTexts): HookRunTexts {
    const { values: lastValues, configValues: lastConfigValues } = this.#last;
    this.#last = { values: values ?? lastValues, configValues: configValues ?? lastConfigValues };
    return { bindingContext, ...this.#last };
  }
}
