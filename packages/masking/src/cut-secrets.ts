import { type PatternIndex, SHORTEST_PATTERN, WindowMap } from './pattern-index.ts';

/** The mark in the middle of a long string that was cut. */
const CUT = '…';
/** The mark at its end, or in JSON at the end of one of its strings, whose quotes are escaped in JSON within JSON. */
const CUT_END = ':truncated';
const BEHIND_CUT_END: readonly (string | undefined)[] = [undefined, '"', '\\'];
/** The remainder of an escape, or of an encoded character of several bytes, before a cut. */
const CUT_ESCAPE = /(?:\\[uUx]?[\dA-Fa-f]{0,7}|(?:%[\dA-Fa-f]{0,2}){1,4})$/;
const LONGEST_ESCAPE = 12;
/** The same behind the cut. */
const REST_OF_ESCAPE = /^[\\uUxbfnrt]?[\dA-Fa-f]{0,8}(?:%[\dA-Fa-f]{2}){0,3}/;

/** Finds what is left of secrets where a text was cut in the middle of them: the beginning before the mark of the cut, and the end behind it. */
export class CutSecrets {
  readonly #beginnings: Pick<PatternIndex<{ readonly text: string }>, 'beginsWith' | 'longest'>;
  /** By their last characters: a text has hundreds of marks, and each is compared with all secrets. */
  readonly #byEnd = new WindowMap<string[]>();

  /** @param beginnings finds the beginnings of the secrets */
  constructor(beginnings: Pick<PatternIndex<{ readonly text: string }>, 'beginsWith' | 'longest'>) {
    this.#beginnings = beginnings;
  }

  /** Adds a secret, for the search behind cuts. */
  add(secret: string): void {
    const group = this.#byEnd.at(secret, secret.length - SHORTEST_PATTERN);
    if (group === undefined) this.#byEnd.set(secret.slice(-SHORTEST_PATTERN), [secret]);
    else group.push(secret);
  }

  /** Removes a secret. */
  delete(secret: string): void {
    const group = this.#byEnd.at(secret, secret.length - SHORTEST_PATTERN);
    const place = group?.indexOf(secret) ?? -1;
    if (place >= 0) group?.splice(place, 1);
  }

  /** Start and end of each part. */
  find(text: string): readonly (readonly [start: number, end: number])[] {
    return [CUT, CUT_END].flatMap((mark) => this.#findAround(text, mark));
  }

  /** The remains before and behind each mark of one kind. */
  #findAround(text: string, mark: string): readonly (readonly [start: number, end: number])[] {
    const found: (readonly [number, number])[] = [];
    let from = 0;
    // A search for a word is much faster than one for a pattern, and most texts have no mark.
    for (let at = text.indexOf(mark), next = -1; at >= 0; at = next) {
      const after = at + mark.length;
      next = text.indexOf(mark, after);
      if (mark === CUT_END && !BEHIND_CUT_END.includes(text[after])) continue;
      const beginning = this.#beginningAt(text, from, at);
      if (beginning !== undefined) found.push([beginning, at]);
      from = this.#endAt(text, after, next < 0 ? text.length : next);
      if (from > after) found.push([after, from]);
    }
    return found;
  }

  /** Start of the beginning of a secret that reaches to the second place, or to the remainder of an escape before it. */
  #beginningAt(text: string, from: number, to: number): number | undefined {
    const tail = text.slice(Math.max(from, to - LONGEST_ESCAPE), to);
    const cut = to - (CUT_ESCAPE.exec(tail)?.[0].length ?? 0);
    for (let at = Math.max(from, to - this.#beginnings.longest); at <= to - SHORTEST_PATTERN; at += 1) {
      if (this.#beginnings.beginsWith(text, at, to)) return at;
      if (at <= cut - SHORTEST_PATTERN && cut < to && this.#beginnings.beginsWith(text, at, cut)) return at;
    }
    return undefined;
  }

  /** End of the remainder of a secret at the first place, or behind the rest of an escape there; the first place if none. */
  #endAt(text: string, from: number, to: number): number {
    const escape = REST_OF_ESCAPE.exec(text.slice(from, Math.min(to, from + LONGEST_ESCAPE)))?.[0] ?? '';
    const furthest = Math.min(to, from + escape.length + this.#beginnings.longest);
    for (let end = furthest; end >= from + SHORTEST_PATTERN; end -= 1) {
      const group = this.#byEnd.at(text, end - SHORTEST_PATTERN) ?? [];
      for (let start = from; start <= from + escape.length && start <= end - SHORTEST_PATTERN; start += 1)
        if (group.some((secret) => secret.endsWith(text.slice(start, end)))) return end;
    }
    return from;
  }
}
