// Writes ASN.1 in DER, just the types that certificates need. `x509-certificate.ts` builds a certificate from
// them: each function returns the bytes of one element, nested by passing them on.

/** Numbers of the ASN.1 types in certificates. */
const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The first year that has no UTCTime, RFC 5280 4.1.2.5. */
const FIRST_GENERALIZED_YEAR = 2050;
/** The high bit of a length byte; also the sign bit of an integer. */
const LONG_FORM = 0x80;

/** One ASN.1 element in DER: tag, length, content. */
export function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

/** One byte up to 127; beyond that the number of length bytes and the length itself. */
function lengthOf({ length }: Uint8Array): Buffer {
  if (length < LONG_FORM) return Buffer.from([length]);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.from([LONG_FORM + digits.length, ...digits]);
}

/** An ordered list of elements. */
export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(TAGS.sequence, Buffer.concat(items));
}

/** A SET; certificates only have sets of one element, so nothing is sorted. */
export function set(...items: readonly Uint8Array[]): Buffer {
  return element(TAGS.set, Buffer.concat(items));
}

/** A whole number that is not negative, given as big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start));
  const isNegative = (digits[0] ?? 0) >= LONG_FORM;
  return element(TAGS.integer, isNegative ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

/** `true`; the other value is the default wherever certificates use the type, and so never written. */
export const TRUE = element(TAGS.boolean, Buffer.from([0xff]));

/** @param dotted such as `2.5.29.17` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAGS.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Seven bits a byte, all but the last with the high bit set. */
function base128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    digits.unshift((rest % 128) + 128);
  return digits;
}

/** A string in UTF-8. */
export function utf8String(value: string): Buffer {
  return element(TAGS.utf8String, Buffer.from(value, 'utf8'));
}

/** Bytes as they are. */
export function octetString(content: Uint8Array): Buffer {
  return element(TAGS.octetString, content);
}

/** @param unusedBits how many of the last byte's low bits do not count */
export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return element(TAGS.bitString, Buffer.concat([Buffer.from([unusedBits]), content]));
}

/** A moment, to the second. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return new Date(ms).getUTCFullYear() < FIRST_GENERALIZED_YEAR
    ? element(TAGS.utcTime, Buffer.from(digits.slice(2)))
    : element(TAGS.generalizedTime, Buffer.from(digits));
}

/** `[number]` around an element of its own. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return element(0xa0 + number, content);
}

/** `[number]` in the place of the tag of a primitive element. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(0x80 + number, content);
}
