/** Reads the fields of SSH's binary format (RFC 4251, section 5), one after the other. */
export class WireReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  /** @throws RangeError when there are fewer bytes */
  bytes(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new RangeError('the data ends too early');
    const bytes = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return bytes;
  }

  uint32(): number {
    return this.bytes(4).readUInt32BE();
  }

  string(): Buffer {
    return this.bytes(this.uint32());
  }

  text(): string {
    return this.string().toString('latin1');
  }
}

/** Bytes with their length in front. */
export function wireString(value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([wireUint32(bytes.length), bytes]);
}

export function wireUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A positive number: a zero byte goes before a highest bit that is set, no other zeros do. */
export function wireNumber(bytes: Buffer): Buffer {
  const trimmed = withoutZeros(bytes);
  const isHigh = (trimmed[0] ?? 0) >= 0x80;
  return wireString(isHigh ? Buffer.concat([Buffer.alloc(1), trimmed]) : trimmed);
}

/** A number without the zero bytes in front of it. */
export function withoutZeros(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
}
