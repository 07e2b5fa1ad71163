import { isObject } from '../lib/json.ts';

/** Reads typed fields of untyped data and names the full path of what is wrong. */
export class FieldReader {
  readonly #value: Record<string, unknown>;
  readonly #path: string;
  readonly #fail: (problem: string) => Error;

  constructor(value: unknown, path: string, fail: (problem: string) => Error) {
    if (!isObject(value)) throw fail(path === '' ? 'it is not a mapping' : `${path} is not a mapping`);
    this.#value = value;
    this.#path = path;
    this.#fail = fail;
  }

  /** The path of one field, for messages. */
  pathOf(field: string): string {
    return this.#path === '' ? field : `${this.#path}.${field}`;
  }

  /** The error that says `problem` about one field. */
  error(field: string, problem: string): Error {
    return this.#fail(`${this.pathOf(field)} ${problem}`);
  }

  /** Undefined where the field is absent, null or empty. */
  text(field: string): string | undefined {
    const value = this.#value[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw this.error(field, 'is not a string');
    return value;
  }

  /** False where the field is absent or null. */
  flag(field: string): boolean {
    const value = this.#value[field];
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean') throw this.error(field, 'is not true or false');
    return value;
  }

  /** Undefined where the field is absent or null. */
  mapping(field: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#value[field];
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.error(field, 'is not a mapping');
    return value;
  }

  /** Empty where the field is absent or null. */
  list(field: string): readonly unknown[] {
    const value = this.#value[field];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.error(field, 'is not a list');
    return value;
  }
}
