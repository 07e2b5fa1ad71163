import { isObject, isRawJson } from '@addon-operator/json';
import type { StructType, ValueType } from './built-in-types.ts';
import { parseQuantity } from './quantity.ts';

export interface Decoded {
  /** The value without unknown fields and nulls. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Paths of unknown fields, in the order of the document. */
  readonly unknown: readonly string[];
  /** Why the value has not this type, in the words of the API server. */
  readonly problem: string | undefined;
  /** The first value of the wrong type; undefined too when the function of a type refused a value. */
  readonly mistake: TypeMistake | undefined;
}

export interface TypeMistake {
  readonly path: string;
  readonly type: ValueType;
  readonly value: unknown;
}

/** Where a value is: for messages about types, and for paths of unknown fields. */
interface Place {
  /** Name of the innermost struct. */
  readonly struct: string;
  /** Names of fields alone. */
  readonly fields: string;
  /** With positions in lists and keys of maps. */
  readonly path: string;
}

/** A value that its type's own function refuses: decoding ends there. */
class Refusal extends Error {}

/**
 * Reads a JSON object as the API server reads it into the struct of its kind. As there, decoding goes on after a value of the
 * wrong type, and the first problem counts.
 */
export function decodeTyped(value: Readonly<Record<string, unknown>>, struct: StructType): Decoded {
  const run = new Decoding();
  try {
    const decoded = run.struct(value, struct, { struct: struct.name, fields: '', path: '' });
    return { value: decoded, unknown: run.unknown, problem: run.problem, mistake: run.mistake };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { value: {}, unknown: run.unknown, problem: error.message, mistake: undefined };
  }
}

class Decoding {
  readonly unknown: string[] = [];
  problem: string | undefined;
  mistake: TypeMistake | undefined;

  struct(
    value: Readonly<Record<string, unknown>>,
    struct: StructType,
    place: Place,
  ): Record<string, unknown> {
    const decoded: Record<string, unknown> = {};
    for (const [field, content] of Object.entries(value)) {
      const type = struct.fields.get(field);
      const below = {
        struct: struct.name,
        fields: place.fields === '' ? field : `${place.fields}.${field}`,
        path: place.path === '' ? field : `${place.path}.${field}`,
      };
      if (type === undefined) this.unknown.push(below.path);
      else if (content !== null) decoded[field] = this.value(content, type, below);
    }
    return decoded;
  }

  value(value: unknown, type: ValueType, place: Place): unknown {
    switch (type.type) {
      case 'any':
        return value;
      case 'struct':
        return isPlainObject(value) ? this.struct(value, type, place) : this.#wrong(value, type, place);
      case 'list':
        return Array.isArray(value)
          ? value.map((item, index) => this.#item(item, type.item, place, `[${index}]`))
          : this.#wrong(value, type, place);
      case 'map':
        return isPlainObject(value)
          ? Object.fromEntries(
              Object.entries(value).map(([key, item]) => [
                key,
                this.#item(item, type.item, place, `.${key}`),
              ]),
            )
          : this.#wrong(value, type, place);
      case 'string':
        return typeof value === 'string' ? value : this.#wrong(value, type, place);
      case 'bool':
        return typeof value === 'boolean' ? value : this.#wrong(value, type, place);
      case 'int32':
      case 'int64':
        return isInteger(value, type.type) ? value : this.#wrong(value, type, place, true);
      case 'float64':
        return typeof value === 'number' || isRawJson(value) ? value : this.#wrong(value, type, place);
      case 'bytes':
        return typeof value === 'string' ? bytes(value) : this.#wrong(value, type, place);
      case 'time':
      case 'microTime':
        return time(value, type.type === 'microTime', place);
      case 'quantity':
        return quantity(value);
      case 'intOrString':
        if (typeof value === 'string' || isInteger(value, 'int32')) return value;
        throw new Refusal(wrongType(value, 'int32', place, true));
    }
  }

  /** An element of a list or map: null is the empty value of the type there. */
  #item(value: unknown, type: ValueType, place: Place, step: string): unknown {
    if (value !== null) return this.value(value, type, { ...place, path: `${place.path}${step}` });
    if (type.type === 'struct') return {};
    return type.type === 'string' || type.type === 'bytes' ? '' : null;
  }

  #wrong(value: unknown, type: ValueType, place: Place, isNumeric = false): undefined {
    this.problem ??= wrongType(value, type.goType, place, isNumeric);
    this.mistake ??= { path: place.path, type, value };
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isRawJson(value);
}

function isInteger(value: unknown, type: 'int32' | 'int64'): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) && (type === 'int64' || Math.abs(value) <= 2 ** 31);
  // A number with more digits than a number of JavaScript holds.
  return type === 'int64' && isRawJson(value) && /^-?\d{1,19}$/.test(JSON.stringify(value));
}

function wrongType(value: unknown, goType: string, place: Place, isNumeric: boolean): string {
  const given = jsonTypeOf(value);
  const shown = given === 'number' && isNumeric ? `number ${JSON.stringify(value)}` : given;
  return `json: cannot unmarshal ${shown} into Go struct field ${place.struct}.${place.fields} of type ${goType}`;
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return isRawJson(value) ? 'number' : typeof value;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function bytes(text: string): string {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (BASE64.test(compact)) return compact;
  throw new Refusal(`illegal base64 data at input byte ${illegalByte(compact)}`);
}

/** Position of the first byte that does not belong there; the start of the last group if it is cut short. */
function illegalByte(text: string): number {
  const wrong = text.search(/[^A-Za-z0-9+/]/);
  const isPadding = wrong >= 0 && text[wrong] === '=' && wrong % 4 >= 2;
  if (wrong >= 0 && !isPadding) return wrong;
  if (!isPadding) return text.length - (text.length % 4);
  const end = wrong % 4 === 2 ? wrong + 2 : wrong + 1;
  return text.length < end ? text.length : end;
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const RFC_3339_MICRO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

function time(value: unknown, isMicro: boolean, place: Place): string {
  if (typeof value !== 'string') throw new Refusal(wrongType(value, 'string', place, false));
  if ((isMicro ? RFC_3339_MICRO : RFC_3339).test(value) && !Number.isNaN(Date.parse(value))) return value;
  const layout = isMicro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  throw new Refusal(`parsing time ${JSON.stringify(value)} as "${layout}": ${timeProblem(value, isMicro)}`);
}

/** Parts of the layout with what each accepts, and how messages name it. */
const TIME_PARTS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d\d/, '01'],
  [/^-/, '-'],
  [/^\d\d/, '02'],
  [/^T/, 'T'],
  [/^\d\d/, '15'],
  [/^:/, ':'],
  [/^\d\d/, '04'],
  [/^:/, ':'],
  [/^\d\d/, '05'],
];

function timeProblem(text: string, isMicro: boolean): string {
  let rest = text;
  const fraction = isMicro ? ([/^\.\d{6}/, '.000000'] as const) : ([/^(?:[.,]\d+)?/, ''] as const);
  for (const [pattern, name] of [...TIME_PARTS, fraction, [/^(?:Z|[+-]\d\d:\d\d)/, 'Z07:00'] as const]) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) return `cannot parse ${JSON.stringify(rest)} as "${name}"`;
    rest = rest.slice(found.length);
  }
  return rest === '' ? 'day out of range' : `extra text: ${JSON.stringify(rest)}`;
}

function quantity(value: unknown): unknown {
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  const { problem } = parseQuantity(text);
  if (problem !== undefined) throw new Refusal(problem);
  return typeof value === 'string' ? value.trim() : text;
}
