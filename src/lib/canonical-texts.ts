import { canonicalJson, isObject } from './json.ts';

/**
 * Canonical JSON of documents that are made again and again from parts that stay the same objects: the text of a part is
 * made once, and kept as long as the part. Parts must not change.
 */
export class CanonicalTexts {
  readonly #texts = new WeakMap<object, string>();

  /**
   * The same text as that of `canonicalJson`.
   *
   * @param levels how many levels of the document are put together anew each time; what is below are parts
   */
  of(document: unknown, levels: number): string {
    if (!isObject(document)) return this.#ofPart(document);
    if (levels === 0) return this.#ofPart(document);
    const members = orderedKeys(document)
      .filter((key) => document[key] !== undefined)
      .map((key) => `${JSON.stringify(key)}:${this.of(document[key], levels - 1)}`);
    return `{${members.join(',')}}`;
  }

  #ofPart(part: unknown): string {
    if (typeof part !== 'object' || part === null) return canonicalJson(part);
    const known = this.#texts.get(part);
    if (known !== undefined) return known;
    const text = canonicalJson(part);
    this.#texts.set(part, text);
    return text;
  }
}

/** As the keys of an object that was filled in order: those that are integers come first. */
function orderedKeys(document: object): string[] {
  const ordered: Record<string, true> = Object.create(null);
  for (const key of Object.keys(document).sort()) ordered[key] = true;
  return Object.keys(ordered);
}
