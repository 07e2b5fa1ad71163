// Multi-pattern search for tens of thousands of secrets. A window of four characters is hashed into a table
// of bytes that says "nothing here" for nearly every place; only then the sorted patterns of that window are
// compared. Tuned for output without secrets, which is nearly all of it.

/** Fewer characters are too few to look for. */
export const SHORTEST_PATTERN = 4;
const MIN_SLOT_BITS = 15;
/** With fewer of them, more characters would have to be looked up. */
const SLOTS_PER_WINDOW = 16;
/** 2^32 divided by the golden ratio: it spreads windows with common characters over the slots. */
const SPREAD = 0x9e_37_79_b1;

/** A pattern at a place of a text. */
export interface Occurrence<Pattern> {
  readonly start: number;
  readonly end: number;
  readonly pattern: Pattern;
}

/**
 * Finds tens of thousands of patterns in one pass over a text: four characters lead to the patterns that begin with them, which are
 * sorted, so that each further character halves them or leaves one. Adding a pattern costs nothing for those that are there.
 */
export class PatternIndex<Pattern extends { readonly text: string }> {
  readonly #groups = new WindowMap<Group<Pattern>>();
  #longest = 0;

  /** Of all patterns that ever were there. */
  get longest(): number {
    return this.#longest;
  }

  /** @param pattern with at least {@link SHORTEST_PATTERN} characters */
  add(pattern: Pattern): void {
    const { text } = pattern;
    const group = this.#groups.at(text, 0);
    if (group === undefined)
      this.#groups.set(text.slice(0, SHORTEST_PATTERN), { patterns: [pattern], common: text });
    else {
      group.patterns.splice(placeOf(group.patterns, text), 0, pattern);
      group.common = undefined;
    }
    this.#longest = Math.max(this.#longest, text.length);
  }

  /** Removes a pattern; `longest` stays as it was. */
  delete(pattern: Pattern): void {
    const group = this.#groups.at(pattern.text, 0);
    const place = group?.patterns.indexOf(pattern) ?? -1;
    if (group === undefined || place < 0) return;
    group.patterns.splice(place, 1);
    group.common = undefined;
  }

  /**
   * For each place of the text the longest pattern there, in order.
   *
   * @param isAccepted whether a pattern that is there counts
   */
  find(
    text: string,
    isAccepted: (occurrence: Occurrence<Pattern>) => boolean,
  ): readonly Occurrence<Pattern>[] {
    const { slots, shift } = this.#groups;
    const found: Occurrence<Pattern>[] = [];
    let window = windowOf(text, 0, SHORTEST_PATTERN - 1);
    for (let last = SHORTEST_PATTERN - 1; last < text.length; last += 1) {
      window = (window << 8) ^ text.charCodeAt(last);
      if (slots[Math.imul(window, SPREAD) >>> shift] === 0) continue;
      const occurrence = this.#longestAt(text, last - SHORTEST_PATTERN + 1, isAccepted);
      if (occurrence !== undefined) found.push(occurrence);
    }
    return found;
  }

  /** Whether a pattern begins with the characters between two places, at least {@link SHORTEST_PATTERN}. */
  beginsWith(text: string, from: number, to: number): boolean {
    const patterns = this.#groups.at(text, from)?.patterns;
    if (patterns === undefined) return false;
    const beginning = text.slice(from, to);
    return patterns[placeOf(patterns, beginning)]?.text.startsWith(beginning) === true;
  }

  /** The longest accepted pattern at a place. */
  #longestAt(
    text: string,
    start: number,
    isAccepted: (occurrence: Occurrence<Pattern>) => boolean,
  ): Occurrence<Pattern> | undefined {
    const group = this.#groups.at(text, start);
    if (group === undefined) return undefined;
    const there = patternsAt(text, start, group);
    for (let index = there.length - 1; index >= 0; index -= 1) {
      const pattern = there[index];
      if (pattern === undefined) continue;
      const occurrence = { start, end: start + pattern.text.length, pattern };
      if (isAccepted(occurrence)) return occurrence;
    }
    return undefined;
  }
}

/** Patterns with the same first four characters. */
interface Group<Pattern> {
  /** Sorted by their texts. */
  readonly patterns: Pattern[];
  /** How all of them begin; undefined until it is needed. */
  common: string | undefined;
}

/** The patterns of a group that are at a place of a text, the shortest first. */
function patternsAt<Pattern extends { readonly text: string }>(
  text: string,
  start: number,
  group: Group<Pattern>,
): readonly Pattern[] {
  const { patterns } = group;
  group.common ??= commonBeginning(patterns[0]?.text ?? '', patterns.at(-1)?.text ?? '');
  // It compares whole words of memory, unlike startsWith().
  if (text.slice(start, start + group.common.length) !== group.common) return [];
  const there: Pattern[] = [];
  let [first, end] = [0, patterns.length];
  for (let depth = group.common.length; first < end; depth += 1) {
    // The shortest ones are first, since they are the beginnings of the others.
    for (; first < end; first += 1) {
      const pattern = patterns[first];
      if (pattern?.text.length !== depth) break;
      there.push(pattern);
    }
    const code = text.charCodeAt(start + depth);
    if (Number.isNaN(code)) break;
    first = firstFrom(code, patterns, depth, first, end);
    end = firstFrom(code + 1, patterns, depth, first, end);
  }
  return there;
}

/** The longest common prefix; of sorted strings the first and the last decide. */
function commonBeginning(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first.charCodeAt(length) === last.charCodeAt(length)) length += 1;
  return first.slice(0, length);
}

/** The first pattern between two places whose character at `depth` is at least `code`. */
function firstFrom(
  code: number,
  group: readonly { readonly text: string }[],
  depth: number,
  from: number,
  to: number,
): number {
  const codeAt = (place: number): number => group[place]?.text.charCodeAt(depth) ?? 0;
  // Patterns often have their first characters in common.
  if (from < to && codeAt(from) >= code) return from;
  if (from < to && codeAt(to - 1) < code) return to;
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (codeAt(middle) < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a text belongs in a sorted group: before those that are not less. */
function placeOf(group: readonly { readonly text: string }[], text: string): number {
  let [low, high] = [0, group.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((group[middle]?.text ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Values by four characters. Where a text has none is mostly known at the first look. */
export class WindowMap<Value> {
  readonly #values = new Map<string, Value>();
  #slots = new Uint8Array(1 << MIN_SLOT_BITS);
  #shift = 32 - MIN_SLOT_BITS;

  /** 1 for a slot that is taken. That of a window is the window times {@link SPREAD}, shifted to the right by `shift`. */
  get slots(): Uint8Array {
    return this.#slots;
  }

  get shift(): number {
    return this.#shift;
  }

  /** The value of the four characters at this place. */
  at(text: string, place: number): Value | undefined {
    const slot = Math.imul(windowOf(text, place, SHORTEST_PATTERN), SPREAD) >>> this.#shift;
    return this.#slots[slot] === 1
      ? this.#values.get(text.slice(place, place + SHORTEST_PATTERN))
      : undefined;
  }

  set(window: string, value: Value): void {
    this.#values.set(window, value);
    if (this.#values.size * SLOTS_PER_WINDOW <= this.#slots.length) return this.#take(window);
    this.#slots = new Uint8Array(4 * this.#slots.length);
    this.#shift -= 2;
    for (const each of this.#values.keys()) this.#take(each);
  }

  #take(window: string): void {
    this.#slots[Math.imul(windowOf(window, 0, SHORTEST_PATTERN), SPREAD) >>> this.#shift] = 1;
  }
}

/** Characters in one number: each further one moves those before by eight bits, so that the fifth is out of it. */
function windowOf(text: string, from: number, length: number): number {
  let window = 0;
  for (let index = from; index < from + length; index += 1) window = (window << 8) ^ text.charCodeAt(index);
  return window;
}
