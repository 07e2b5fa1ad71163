import { canonicalJson, isRawJson } from '@addon-operator/json';
import { scalarText } from '../json-access.ts';
import type { StatusCause } from '../status-error.ts';

/** A value of an internal type of the API server, which messages show with the names that its fields have there. */
export type GoStruct = ReadonlyMap<string, unknown>;

/** Collects what is wrong with the fields of an object, in the words of the API server. */
export class FieldErrors {
  readonly #causes: StatusCause[] = [];

  get causes(): readonly StatusCause[] {
    return this.#causes;
  }

  get count(): number {
    return this.#causes.length;
  }

  addAll(other: FieldErrors): void {
    this.#causes.push(...other.causes);
  }

  required(field: string, why = ''): void {
    this.#add('FieldValueRequired', 'Required value', field, why);
  }

  invalid(field: string, value: unknown, why: string): void {
    this.#add('FieldValueInvalid', `Invalid value: ${shown(value)}`, field, why);
  }

  /** One error for each message. */
  invalidEach(field: string, value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(field, value, message);
  }

  forbidden(field: string, why: string): void {
    this.#add('FieldValueForbidden', 'Forbidden', field, why);
  }

  duplicate(field: string, value: unknown): void {
    this.#add('FieldValueDuplicate', `Duplicate value: ${shown(value)}`, field);
  }

  notFound(field: string, value: unknown): void {
    this.#add('FieldValueNotFound', `Not found: ${shown(value)}`, field);
  }

  tooLong(field: string, limitBytes: number): void {
    this.#add('FieldValueTooLong', 'Too long', field, `may not be more than ${limitBytes} bytes`);
  }

  /** A value of the wrong type in a custom resource; `given` is its type, or the text that has not the format. */
  typeInvalid(field: string, given: string, why: string): void {
    this.#add('FieldValueTypeInvalid', `Invalid value: ${JSON.stringify(given)}`, field, why);
  }

  tooMany(field: string, count: number, limit: number): void {
    this.#add('FieldValueTooMany', `Too many: ${count}`, field, `must have at most ${limit} items`);
  }

  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    const values = supported.map((text) => JSON.stringify(text)).join(', ');
    this.#add(
      'FieldValueNotSupported',
      `Unsupported value: ${shown(value)}`,
      field,
      `supported values: ${values}`,
    );
  }

  /** A number that must not be below zero; undefined is accepted. */
  nonNegative(field: string, value: unknown): void {
    if (typeof value === 'number' && value < 0)
      this.invalid(field, value, 'must be greater than or equal to 0');
  }

  /** A value out of a fixed set; missing is an error of its own. */
  oneOf(field: string, value: unknown, supported: readonly string[]): void {
    if (value === undefined || value === '') this.required(field);
    else if (!supported.includes(scalarText(value))) this.notSupported(field, value, supported);
  }

  /** The name of an element that must be unique; `names` holds those seen. */
  unique(field: string, name: string, names: Set<string>): void {
    if (names.has(name)) this.duplicate(field, name);
    else names.add(name);
  }

  #add(reason: string, what: string, field: string, why = ''): void {
    this.#causes.push({ reason, message: why === '' ? what : `${what}: ${why}`, field });
  }
}

/** A value as messages show it: what is missing is null, keys are sorted, those of a Map (a Go struct) are in order. */
function shown(value: unknown): string {
  if (value instanceof Map) {
    const fields = [...value].map(([name, content]) => `${JSON.stringify(name)}:${shown(content)}`);
    return `{${fields.join()}}`;
  }
  if (value === undefined) return 'null';
  if (typeof value === 'object' && value !== null && !isRawJson(value)) return canonicalJson(value);
  return JSON.stringify(value);
}
