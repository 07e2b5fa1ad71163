/** Lanczos coefficients for g = 7. */
const LANCZOS_G = 7;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** Natural logarithm of the absolute value of the gamma function. */
export function logGamma(x: number): number {
  if (Number.isInteger(x) && x <= 0) return Number.POSITIVE_INFINITY;
  if (x === 1 || x === 2) return 0;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  const shifted = x - 1;
  const sum = LANCZOS.reduce((total, factor, at) => (at === 0 ? factor : total + factor / (shifted + at)), 0);
  const base = shifted + LANCZOS_G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}

/**
 * Factorials are computed exactly up to 171!, the largest one that a double holds; others follow from the
 * logarithm.
 */
export function gamma(x: number): number {
  if (Number.isInteger(x) && x > 0 && x < 172) {
    let product = 1;
    for (let factor = 2; factor < x; factor += 1) product *= factor;
    return product;
  }
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  return Math.exp(logGamma(x));
}
