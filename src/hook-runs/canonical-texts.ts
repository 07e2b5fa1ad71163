import { canonicalJson, isObject } from '@addon-operator/json';

/** The number of documents whose whole string is kept. */
const KEPT_DOCUMENTS = 16;

interface KeptDocument {
  readonly document: unknown;
  readonly text: string;
}

/**
 * Canonical JSON of documents that are composed again and again of unchanged parts: the string of a
 * part is made once, and kept as long as the part. Parts must not be mutated. A values document of
 * several megabytes is so written for each hook run without being serialized each time.
 */
export class CanonicalTexts {
  readonly #texts = new WeakMap<object, string>();
  readonly #documents = new Map<string, KeptDocument>();

  /**
   * Returns the same string as `canonicalJson`.
   *
   * @param name names the document across versions; a version of the same parts has the same string
   * @param levels the number of levels that are composed each time; everything below is a part
   */
  of(name: string, document: unknown, levels: number): string {
    const last = this.#documents.get(name);
    const text =
      last !== undefined && this.#isSame(document, last.document, levels)
        ? last.text
        : this.#compose(document, levels);
    // Deleted and set again, so that the map is ordered by last use and the oldest is dropped
    // below.
    this.#documents.delete(name);
    this.#documents.set(name, { document, text });
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > KEPT_DOCUMENTS && oldest !== undefined) this.#documents.delete(oldest);
    return text;
  }

  #isSame(one: unknown, other: unknown, levels: number): boolean {
    if (one === other) return true;
    if (levels === 0 || !isObject(one) || !isObject(other)) return this.#ofPart(one) === this.#ofPart(other);
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && this.#isSame(one[key], other[key], levels - 1))
    );
  }

  #compose(document: unknown, levels: number): string {
    if (levels === 0 || !isObject(document)) return this.#ofPart(document);
    const members = orderedKeys(document)
      .filter((key) => document[key] !== undefined)
      .map((key) => `${JSON.stringify(key)}:${this.#compose(document[key], levels - 1)}`);
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

/**
 * The key order of JSON.stringify for an object that was filled in sorted order: integer keys come
 * first.
 */
function orderedKeys(document: object): string[] {
  const ordered: Record<string, true> = Object.create(null);
  for (const key of Object.keys(document).sort()) ordered[key] = true;
  return Object.keys(ordered);
}
