import { ExactInteger } from './value.ts';

const INTEGER = /^-?\d+$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NAN = /^[+-]?s?nan$/i;
const INFINITE = /^[+-]?inf(?:inity)?$/i;
const REDUNDANT_START = /^(?:\+|(-))?0*(?=\d)/;

/** The number that a string spells, more freely than in JSON (`+1`, `.5`, `nan`); undefined if it spells none. */
export function parseNumber(text: string): number | ExactInteger | undefined {
  if (DECIMAL.test(text)) return numberOf(text.replace(REDUNDANT_START, '$1'));
  if (NAN.test(text)) return Number.NaN;
  if (!INFINITE.test(text)) return undefined;
  return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** The number of a literal in JSON or in a program; an integer that a double cannot hold keeps its digits. */
export function numberOf(literal: string): number | ExactInteger {
  const double = Number(literal);
  return Number.isSafeInteger(double) || !INTEGER.test(literal) ? double : new ExactInteger(literal);
}
