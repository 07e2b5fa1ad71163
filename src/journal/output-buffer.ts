/** Bounded output of one run: beginning and end are kept, because the reason of a failure is mostly in one of them. */

const HEAD_CHARACTERS = 16 * 1024;
const TAIL_CHARACTERS = 48 * 1024;

/** The beginning and the end of what a hook printed. */
export interface OutputParts {
  readonly head: string;
  /** The output that follows `head`, or follows the gap behind it. */
  readonly tail: string;
  /** Characters between them that were not kept. */
  readonly cut: number;
}

/** Keeps whole lines: the first 16 Ki characters, and the last 48 Ki. A longer line is cut. */
export class OutputBuffer {
  #head = '';
  #isHeadFull = false;
  #tail: string[] = [];
  #tailLength = 0;
  /** Lines of `#tail` before this one were dropped: an array is not shortened for each line. */
  #tailStart = 0;
  #total = 0;
  #cut = 0;

  /** What a buffer has kept before. */
  static restored({ head, tail, cut }: OutputParts): OutputBuffer {
    const buffer = new OutputBuffer();
    buffer.#head = head;
    buffer.#isHeadFull = true;
    buffer.#tail = [tail];
    buffer.#tailLength = tail.length;
    buffer.#cut = cut;
    buffer.#total = head.length + tail.length + cut;
    return buffer;
  }

  /** Everything that was printed, in characters. */
  get total(): number {
    return this.#total;
  }

  /** The kept output, in characters. */
  get kept(): number {
    return this.#head.length + this.#tailLength;
  }

  push(content: string): void {
    const line = `${content}\n`;
    this.#total += line.length;
    if (!this.#isHeadFull && this.#head.length + line.length <= HEAD_CHARACTERS) {
      this.#head += line;
      return;
    }
    this.#isHeadFull = true;
    const kept = line.length <= TAIL_CHARACTERS ? line : line.slice(-TAIL_CHARACTERS);
    this.#cut += line.length - kept.length;
    this.#tail.push(kept);
    this.#tailLength += kept.length;
    this.#shorten();
  }

  read(): OutputParts {
    return { head: this.#head, tail: this.#tail.slice(this.#tailStart).join(''), cut: this.#cut };
  }

  #shorten(): void {
    while (this.#tailLength > TAIL_CHARACTERS) {
      const dropped = this.#tail[this.#tailStart]?.length ?? 0;
      this.#tail[this.#tailStart] = '';
      this.#tailStart += 1;
      this.#tailLength -= dropped;
      this.#cut += dropped;
    }
    if (this.#tailStart < 1_000) return;
    this.#tail = this.#tail.slice(this.#tailStart);
    this.#tailStart = 0;
  }
}
