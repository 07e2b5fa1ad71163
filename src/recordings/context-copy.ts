/** Copies binding contexts while they are streamed to a hook, so that recording needs no second pass over them. */

type Document = string | AsyncIterable<Buffer>;

/** Keeps a copy of binding contexts while a hook reads them, up to a limit. */
export class ContextCopy {
  readonly #given: Document;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isWhole = false;

  constructor(document: Document, maxBytes: number) {
    this.#given = document;
    this.#maxBytes = maxBytes;
  }

  /** To be given to the hook. */
  get document(): Document {
    return typeof this.#given === 'string' ? this.#given : this.#copied(this.#given);
  }

  /** The whole document; undefined if it is larger than the limit, or was not read to its end. */
  get text(): string | undefined {
    if (typeof this.#given === 'string')
      return Buffer.byteLength(this.#given) > this.#maxBytes ? undefined : this.#given;
    return this.#isWhole && this.#bytes <= this.#maxBytes
      ? Buffer.concat(this.#pieces).toString('utf8')
      : undefined;
  }

  async *#copied(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const piece of pieces) {
      this.#bytes += piece.length;
      if (this.#bytes <= this.#maxBytes) this.#pieces.push(piece);
      else this.#pieces = [];
      yield piece;
    }
    this.#isWhole = true;
  }
}
