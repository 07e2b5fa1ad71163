/** Characters of a text that are looked up at each place. */
export const SHORTEST_TEXT = 4;
const SLOT_BITS = 15;
/** 2^32 divided by the golden ratio: it spreads texts with common characters over the slots. */
const SPREAD = 0x9e_37_79_b1;

/**
 * Hides texts wherever they are. It goes through a text once, however many there are to be hidden: a response of hundreds of
 * kilobytes is compared with the forms of hundreds of secrets.
 */
export class TextMask {
  readonly #hidden: string;
  /** Whether a hidden text may begin with characters of this slot. */
  readonly #starts = new Uint8Array(1 << SLOT_BITS);
  /** The hidden texts by the slot of their first characters, the longest first. */
  readonly #bySlot: ReadonlyMap<number, readonly string[]>;

  /**
   * @param texts shorter ones than {@link SHORTEST_TEXT} are not hidden
   * @param hidden what is in their place
   */
  constructor(texts: readonly string[], hidden: string) {
    this.#hidden = hidden;
    const long = texts.filter(({ length }) => length >= SHORTEST_TEXT);
    this.#bySlot = Map.groupBy(
      long.toSorted((a, b) => b.length - a.length),
      (text) => slotOf(windowOf(text, SHORTEST_TEXT)),
    );
    for (const slot of this.#bySlot.keys()) this.#starts[slot] = 1;
  }

  /** The text with overlapping hidden texts replaced as one; the same string if there is none. */
  hide(text: string): string {
    const starts = this.#starts;
    let result = '';
    let copied = 0;
    let [start, end] = [0, 0];
    let window = windowOf(text, SHORTEST_TEXT - 1);
    for (let last = SHORTEST_TEXT - 1; last < text.length; last += 1) {
      window = (window << 8) ^ text.charCodeAt(last);
      const slot = slotOf(window);
      if (starts[slot] === 0) continue;
      const at = last - SHORTEST_TEXT + 1;
      const length = this.#lengthAt(text, at, slot);
      if (length === 0) continue;
      if (at >= end) {
        if (end > 0) result += text.slice(copied, start) + this.#hidden;
        copied = end;
        start = at;
      }
      end = Math.max(end, at + length);
    }
    return end === 0 ? text : result + text.slice(copied, start) + this.#hidden + text.slice(end);
  }

  /** Of the longest hidden text that begins there; 0 if none does. */
  #lengthAt(text: string, at: number, slot: number): number {
    return this.#bySlot.get(slot)?.find((hidden) => text.startsWith(hidden, at))?.length ?? 0;
  }
}

/** The first characters in one number: each further one moves those before by eight bits, so that the fifth is out of it. */
function windowOf(text: string, length: number): number {
  let window = 0;
  for (let index = 0; index < Math.min(length, text.length); index += 1)
    window = (window << 8) ^ text.charCodeAt(index);
  return window;
}

function slotOf(window: number): number {
  return Math.imul(window, SPREAD) >>> (32 - SLOT_BITS);
}
