import { type PatternReader, regexFailure } from './pattern-reader.ts';
import type { RegexNode, RegexRepeat } from './regex-tree.ts';

/** A quantifier as it was written; `max` is infinite if it is open. */
export interface Quantifier {
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
  readonly isPossessive: boolean;
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})([?+]?)/y;
/** The limit of Oniguruma. */
const MAX_REPEATS = 100_000;
const FOREVER = Number.POSITIVE_INFINITY;

const KINDS = ['?', '*', '+', '??', '*?', '+?'] as const;
type Kind = (typeof KINDS)[number];

/**
 * The result of two short quantifiers in a row: by the inner one, then by the outer one, in the order of {@link KINDS}.
 * It matters where the inner one is lazy: `(?:a??)*` is `a*?`. Two names mean the first in the second.
 */
const COMBINED: Readonly<Record<Kind, readonly string[]>> = {
  '?': ['?', '*', '*', '??', '*?', '? +?'],
  '*': ['*', '*', '*', '+ ??', '+ ??', '*'],
  '+': ['*', '*', '+', '+ ??', '+ ??', '+'],
  '??': ['??', '*?', '*?', '??', '*?', '*?'],
  '*?': ['*?', '*?', '*?', '*?', '*?', '*?'],
  '+?': ['+? ?', '*', '+', '*?', '*?', '+?'],
};

/**
 * Reads a quantifier if one comes next. Braces that are none are plain characters. Throws JqError for a bad
 * range.
 */
export function readQuantifier(reader: PatternReader): Quantifier | undefined {
  const match = reader.match(QUANTIFIER);
  if (match === undefined) return undefined;
  const [, sign, lower, comma, upper = '', suffix = ''] = match;
  const behind = { isLazy: suffix === '?', isPossessive: suffix === '+' };
  if (sign !== undefined) {
    return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : FOREVER, ...behind };
  }
  const min = Number(lower);
  const max = comma === undefined ? min : upper === '' ? FOREVER : Number(upper);
  if (min > MAX_REPEATS || (max > MAX_REPEATS && max !== FOREVER)) {
    throw regexFailure('too big number for repeat range');
  }
  if (min > max) throw regexFailure('upper is smaller than lower in repeat range');
  return { min, max, ...behind };
}

/** The node repeated, as Oniguruma does it: several quantifiers in a row become one where they can. */
export function repeated(body: RegexNode, { isPossessive, ...outer }: Quantifier): RegexNode {
  if (isPossessive) return { kind: 'atomic', body: repeat(body, { ...outer, isLazy: false }) };
  if (body.kind !== 'repeat') return repeat(body, outer);
  if (body.min === body.max && outer.min === outer.max) {
    const times = body.min * outer.min;
    if (times > MAX_REPEATS) throw regexFailure('too big number for repeat range');
    return repeat(body.body, { ...outer, min: times, max: times });
  }
  const [inner, around] = [kindOf(body), kindOf(outer)];
  if (inner === undefined || around === undefined) return repeat(body, outer);
  const kinds = COMBINED[inner][KINDS.indexOf(around)]?.split(' ') ?? [];
  return kinds.reduce((node, kind) => repeat(node, shape(kind)), body.body);
}

type Shape = Pick<RegexRepeat, 'min' | 'max' | 'isLazy'>;

function repeat(body: RegexNode, { min, max, isLazy }: Shape): RegexRepeat {
  return { kind: 'repeat', body, min, max, isLazy };
}

/** The short form of a repetition; undefined for one with other bounds. */
function kindOf({ min, max, isLazy }: Shape): Kind | undefined {
  return KINDS.find((kind) => {
    const other = shape(kind);
    return other.min === min && other.max === max && other.isLazy === isLazy;
  });
}

/** The bounds of a short quantifier. */
function shape(kind: string): Shape {
  return {
    min: kind.startsWith('+') ? 1 : 0,
    max: kind.startsWith('?') ? 1 : FOREVER,
    isLazy: kind.length === 2,
  };
}
