/** One field of a protobuf message: a number for varints, bytes for everything with a length. */
export interface ProtobufField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/**
 * Reads the fields of one message in order; fixed 32 and 64 bit fields are given as their raw bytes.
 *
 * @throws RangeError for bytes that are no message
 */
export function* readFields(bytes: Uint8Array): Generator<ProtobufField> {
  let offset = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset];
      if (byte === undefined) throw new RangeError('truncated varint');
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new RangeError('varint too long');
  };
  const readBytes = (length: number): Uint8Array => {
    if (length < 0 || offset + length > bytes.length) throw new RangeError('truncated field');
    const value = bytes.subarray(offset, offset + length);
    offset += length;
    return value;
  };
  while (offset < bytes.length) {
    const tag = Number(readVarint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: readVarint() };
        break;
      case 1:
        yield { number, value: readBytes(8) };
        break;
      case 2:
        yield { number, value: readBytes(Number(readVarint())) };
        break;
      case 5:
        yield { number, value: readBytes(4) };
        break;
      default:
        throw new RangeError(`unknown wire type ${tag & 7}`);
    }
  }
}
