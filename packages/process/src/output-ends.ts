/** Keeps the first bytes of a stream, as many as its capacity. */
export class OutputHead {
  readonly #capacityBytes: number;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #isTruncated = false;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  push(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#capacityBytes - this.#sizeBytes);
    if (kept.length < chunk.length) this.#isTruncated = true;
    if (kept.length === 0) return;
    // A copy: a view would keep the whole read buffer behind it alive.
    this.#chunks.push(Buffer.from(kept));
    this.#sizeBytes += kept.length;
  }

  toString(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Keeps the last bytes of a stream, as many as its capacity. */
export class OutputTail {
  readonly #capacityBytes: number;
  #bytes = Buffer.alloc(0);
  #sizeBytes = 0;
  #totalBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  get isTruncated(): boolean {
    return this.#totalBytes > this.#capacityBytes;
  }

  push(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const added = chunk.subarray(Math.max(0, chunk.length - this.#capacityBytes));
    this.#makeRoom(added.length);
    this.#bytes.set(added, this.#sizeBytes);
    this.#sizeBytes += added.length;
  }

  /**
   * The tail as text. Of a longer stream only whole lines; where there is none, `…` and what is left of the last one, from
   * the first whole character on.
   */
  toString(): string {
    let start = Math.max(0, this.#sizeBytes - this.#capacityBytes);
    if (!this.isTruncated) return this.#bytes.toString('utf8', start, this.#sizeBytes);
    const firstEnd = this.#bytes.subarray(start, this.#sizeBytes - 1).indexOf('\n');
    if (firstEnd !== -1) return this.#bytes.toString('utf8', start + firstEnd + 1, this.#sizeBytes);
    while (((this.#bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return `…${this.#bytes.toString('utf8', start, this.#sizeBytes)}`;
  }

  /** Lets the buffer grow to twice the capacity, then moves the tail to its start: each byte is moved once at most. */
  #makeRoom(addedBytes: number): void {
    if (this.#sizeBytes + addedBytes <= this.#bytes.length) return;
    const kept = this.#bytes.subarray(Math.max(0, this.#sizeBytes - this.#capacityBytes), this.#sizeBytes);
    const neededBytes = kept.length + addedBytes;
    if (neededBytes > this.#bytes.length) {
      const grown = Buffer.alloc(Math.min(2 * this.#capacityBytes, 2 * neededBytes));
      grown.set(kept);
      this.#bytes = grown;
    } else {
      this.#bytes.copyWithin(0, this.#sizeBytes - kept.length, this.#sizeBytes);
    }
    this.#sizeBytes = kept.length;
  }
}
