// Mathematical builtins. jq hands them to the C library; JavaScript lacks some of those functions, and they
// are written here with the same results for zeros, infinities and NaN. `test/responses.tsv` holds the
// answers of the real jq.

import { failure } from './jq-error.ts';
import { ExactInteger, isNumber, toDouble, type Value } from './value.ts';
import { type BuiltinTable, ofValues } from './value-builtin.ts';

/** Functions of one number, the input. */
const UNARY: Readonly<Record<string, (x: number) => number>> = {
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atanh: Math.atanh,
  cbrt: Math.cbrt,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  exp: Math.exp,
  exp10: (x) => 10 ** x,
  exp2: (x) => 2 ** x,
  expm1: Math.expm1,
  fabs: Math.abs,
  floor: Math.floor,
  gamma: logGamma,
  lgamma: logGamma,
  lgamma_r: logGamma,
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  log2: Math.log2,
  logb: (x) => (x === 0 ? Number.NEGATIVE_INFINITY : Number.isFinite(x) ? exponentOf(x) : Math.abs(x)),
  nearbyint: roundHalfEven,
  rint: roundHalfEven,
  // Halves away from zero, as in C; Math.round takes them towards +infinity.
  round: (x) => Math.sign(x) * Math.floor(Math.abs(x) + 0.5),
  significand: (x) => (x === 0 || !Number.isFinite(x) ? x : x / 2 ** exponentOf(x)),
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
  tgamma: gamma,
  trunc: Math.trunc,
};

/** Functions of two numbers, the arguments. */
const BINARY: Readonly<Record<string, (x: number, y: number) => number>> = {
  atan2: Math.atan2,
  copysign: (x, y) => (isNegative(x) === isNegative(y) ? x : -x),
  drem: ieeeRemainder,
  fdim: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : Math.max(x - y, 0)),
  // NaN counts as missing here, while Math.max returns it.
  fmax: (x, y) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.max(x, y)),
  fmin: (x, y) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y)),
  fmod: (x, y) => x % y,
  hypot: Math.hypot,
  ldexp: (x, y) => x * 2 ** Math.trunc(y),
  nextafter: nextAfter,
  nexttoward: nextAfter,
  pow: Math.pow,
  remainder: ieeeRemainder,
  scalb: (x, y) => x * 2 ** y,
  scalbln: (x, y) => x * 2 ** Math.trunc(y),
};

/** The smallest normal double; smaller ones are subnormal. */
const NORMAL_MIN = 2 ** -1022;

/** The functions of the C library that jq offers. Throws JqError for arguments that are no numbers. */
export const MATH_BUILTINS: BuiltinTable = {
  ...Object.fromEntries(
    Object.entries(UNARY).map(([name, reckon]) => [`${name}/0`, ofValues((input) => reckon(double(input)))]),
  ),
  ...Object.fromEntries(
    Object.entries(BINARY).map(([name, reckon]) => [
      `${name}/2`,
      ofValues((_, x = null, y = null) => reckon(double(x), double(y))),
    ]),
  ),
  'fma/3': ofValues((_, x = null, y = null, z = null) => double(x) * double(y) + double(z)),
  'frexp/0': ofValues((input) => fractionAndExponent(double(input))),
  'modf/0': ofValues((input) => {
    const whole = Math.trunc(double(input));
    return [Number.isFinite(whole) ? double(input) - whole : 0, whole];
  }),
  'infinite/0': ofValues(() => Number.POSITIVE_INFINITY),
  'nan/0': ofValues(() => Number.NaN),
  'isinfinite/0': ofValues((input) => Math.abs(double(input)) === Number.POSITIVE_INFINITY),
  'isnan/0': ofValues((input) => Number.isNaN(double(input))),
  'isnormal/0': ofValues((input) => {
    const size = Math.abs(double(input));
    return size >= NORMAL_MIN && size < Number.POSITIVE_INFINITY;
  }),
};

/** The argument as a double. Throws JqError for anything but a number. */
function double(value: Value): number {
  if (!isNumber(value)) throw failure(value, 'number required');
  return value instanceof ExactInteger ? toDouble(value) : value;
}

/** The sign bit: -0 is negative. */
function isNegative(x: number): boolean {
  return x < 0 || Object.is(x, -0);
}

/** To the nearest whole number, halves to the even one. */
function roundHalfEven(x: number): number {
  if (Math.abs(x % 1) !== 0.5) return Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
  return Math.sign(x) * 2 * Math.round(Math.abs(x) / 2);
}

/** The double next to `x` on the way to `y`. */
function nextAfter(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return y;
  if (x === 0) return y > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  // The bits of larger sizes are larger numbers.
  view.setBigUint64(0, view.getBigUint64(0) + (x < y === x > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** The quotient is rounded to the nearest integer, unlike that of `%`. */
function ieeeRemainder(x: number, y: number): number {
  return x - y * roundHalfEven(x / y);
}

/** The power of two in a finite number other than zero. */
function exponentOf(x: number): number {
  // The logarithm is off by one next to powers of two.
  const guess = Math.floor(Math.log2(Math.abs(x)));
  const size = Math.abs(x) / 2 ** guess;
  return size >= 2 ? guess + 1 : size < 1 ? guess - 1 : guess;
}

/** `frexp`: a fraction of at least 0.5 and below 1, times a power of two. */
function fractionAndExponent(x: number): Value {
  if (x === 0 || !Number.isFinite(x)) return [x, 0];
  const exponent = exponentOf(x) + 1;
  return [x / 2 ** exponent, exponent];
}

/** Lanczos coefficients for g = 7. */
const LANCZOS_G = 7;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** Natural logarithm of the absolute value of the gamma function. */
function logGamma(x: number): number {
  if (Number.isInteger(x) && x <= 0) return Number.POSITIVE_INFINITY;
  if (x === 1 || x === 2) return 0;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  const shifted = x - 1;
  const sum = LANCZOS.reduce((total, factor, at) => (at === 0 ? factor : total + factor / (shifted + at)), 0);
  const base = shifted + LANCZOS_G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}

function gamma(x: number): number {
  if (Number.isInteger(x) && x > 0 && x < 172) {
    let product = 1;
    for (let factor = 2; factor < x; factor += 1) product *= factor;
    return product;
  }
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  return Math.exp(logGamma(x));
}
