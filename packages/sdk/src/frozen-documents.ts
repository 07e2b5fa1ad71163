import { parseJson } from '@addon-operator/json';
import { frozen } from './frozen.ts';

/** How many documents are kept: values and config values. */
const KEPT = 2;

/** Parsed and frozen JSON; the last documents are kept, since a run mostly sees the values that the one before it saw. */
export class FrozenDocuments {
  readonly #kept: { readonly text: string; readonly document: unknown }[] = [];

  of(text: string): unknown {
    const known = this.#kept.find((each) => each.text === text);
    if (known !== undefined) return known.document;
    const document = frozen(parseJson(text));
    this.#kept.unshift({ text, document });
    this.#kept.splice(KEPT);
    return document;
  }
}
