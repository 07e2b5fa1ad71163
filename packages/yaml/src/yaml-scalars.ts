import { type Json, parseJson } from '@addon-operator/json';

/** Something in a YAML text that is refused; `offset` is where, in characters from its start. */
export class YamlProblem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'YamlProblem';
    this.offset = offset;
  }
}

/**
 * Which words are booleans: `yaml-1.1` adds yes, no, on, off, y and n to true and false. Keys are never booleans.
 */
export type YamlBooleans = 'yaml-1.1' | 'yaml-1.2';

/** The meaning of an unquoted scalar, or the reason why it is refused. */
type ScalarMeaning =
  | { readonly type: 'value'; readonly value: Json }
  | { readonly type: 'refused'; readonly why: string };

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUE = new Set(['true', 'True', 'TRUE']);
const FALSE = new Set(['false', 'False', 'FALSE']);
const OLD_TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']);
const OLD_FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']);

const NON_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** An integer as helm reads it: decimal, or with a prefix, a leading zero meaning octal. */
const INTEGER = /^(?<sign>[-+]?)(?<digits>0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NUMBER_START = /^[-+.]?[0-9]|^[-+]\./;

/**
 * The meaning of an unquoted text, the same that helm finds in it: 0777 is octal, 1_000 is a thousand, 12:30:45 and
 * dates are strings. Integers that a double would change are kept as raw JSON (see `parseJson`), numbers that JSON does not
 * have are refused.
 */
export function plainScalar(text: string, booleans: YamlBooleans): ScalarMeaning {
  if (NULLS.has(text)) return { type: 'value', value: null };
  const isOld = booleans === 'yaml-1.1';
  if (TRUE.has(text) || (isOld && OLD_TRUE.has(text))) return { type: 'value', value: true };
  if (FALSE.has(text) || (isOld && OLD_FALSE.has(text))) return { type: 'value', value: false };
  if (NON_FINITE.test(text)) return { type: 'refused', why: NOT_FINITE };
  const digits = text.replaceAll('_', '');
  const value = NUMBER_START.test(text) ? numberOf(digits) : undefined;
  if (value === undefined) return { type: 'value', value: text };
  const exact = Number.isSafeInteger(value) ? value : (exactInteger(digits) ?? value);
  return Number.isFinite(value) ? { type: 'value', value: exact } : { type: 'refused', why: NOT_FINITE };
}

/** Why a number such as `.inf` or `1e999` has no place in JSON. */
export const NOT_FINITE = 'numbers must be finite';

/** An integer of any length as JSON carries it; undefined for other numbers. */
function exactInteger(text: string): Json | undefined {
  const groups = INTEGER.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const magnitude = BigInt((groups['digits'] ?? '').replace(/^0(?=[0-7])/, '0o'));
  // A number, or a raw JSON text that represents one.
  return parseJson(String(groups['sign'] === '-' ? -magnitude : magnitude)) as Json;
}

function numberOf(text: string): number | undefined {
  const groups = INTEGER.exec(text)?.groups;
  if (groups !== undefined) {
    const magnitude = Number((groups['digits'] ?? '').replace(/^0(?=[0-7])/, '0o'));
    return groups['sign'] === '-' && magnitude !== 0 ? -magnitude : magnitude;
  }
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return value === 0 ? 0 : value;
}
