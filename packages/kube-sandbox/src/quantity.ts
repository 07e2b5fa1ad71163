/** Powers of ten or two of the suffixes of quantities. */
const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** The smallest part that a quantity can express, as a power of ten. */
const NANO = 9;

export type ParsedQuantity =
  | { readonly nano: bigint; readonly problem?: undefined }
  | { readonly problem: string };

const FORMAT_PROBLEM =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Reads a quantity such as `100m` or `1.5Gi`, in parts of 10⁻⁹, rounded up. */
export function parseQuantity(text: string): ParsedQuantity {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (text === '' || match === null) return { problem: FORMAT_PROBLEM };
  const [, sign = '', whole = '', part = '', suffix = ''] = match;
  const digits = BigInt(`${whole}${part}` || '0');
  const scale = powerOf(suffix);
  if (scale === undefined) return { problem: "unable to parse quantity's suffix" };
  const factor = 10n ** BigInt(Math.max(0, NANO + scale.ten - part.length)) * 2n ** BigInt(scale.two);
  const divisor = 10n ** BigInt(Math.max(0, part.length - NANO - scale.ten));
  const nano = (digits * factor + divisor - 1n) / divisor;
  return { nano: sign === '-' ? -nano : nano };
}

function powerOf(suffix: string): { readonly ten: number; readonly two: number } | undefined {
  const two = BINARY[suffix];
  if (two !== undefined) return { ten: 0, two };
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1];
  const ten = exponent === undefined ? DECIMAL[suffix] : Number(exponent);
  return ten === undefined || Math.abs(ten) > 100 ? undefined : { ten, two: 0 };
}
