import { canonicalJson, isRawJson } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, numberAt, scalarString, stringAt, valueAt } from '../json-access.ts';
import type { StatusCause } from '../status-error.ts';
import type { NameRule } from './name-rules.ts';

/** A value of an internal type of the API server, which messages show with the names that its fields have there. */
export type GoStruct = ReadonlyMap<string, unknown>;

/**
 * A field of an object under validation: its value, its path, and the causes that are found. Validators go from the object
 * to its fields with `at()` and `items`, and report what is wrong in the words of the API server; all fields of one object
 * collect in one list, in the order of the reports.
 */
export class Field {
  readonly value: unknown;
  readonly path: string;
  readonly causes: StatusCause[];

  constructor(value: unknown, path = '', causes: StatusCause[] = []) {
    this.value = value;
    this.path = path;
    this.causes = causes;
  }

  /** The field below that these names lead to. */
  at(...names: readonly string[]): Field {
    const path = this.path === '' ? names : [this.path, ...names];
    return new Field(valueAt(this.value, ...names), path.join('.'), this.causes);
  }

  /** The elements of a list. */
  get items(): readonly Field[] {
    return this.list.map((item, index) => new Field(item, `${this.path}[${index}]`, this.causes));
  }

  /** A field that messages name otherwise than by its place. */
  named(path: string, value = this.value): Field {
    return new Field(value, path, this.causes);
  }

  get isSet(): boolean {
    return this.value !== undefined;
  }

  /** The value if it is a string, else an empty one. */
  get string(): string {
    return stringAt(this.value);
  }

  get number(): number | undefined {
    return numberAt(this.value);
  }

  get list(): readonly unknown[] {
    return listAt(this.value);
  }

  get fields(): Fields {
    return fieldsAt(this.value);
  }

  required(why = ''): void {
    this.#add('FieldValueRequired', 'Required value', why);
  }

  invalid(why: string, value = this.value): void {
    this.#add('FieldValueInvalid', `Invalid value: ${shown(value)}`, why);
  }

  forbidden(why: string): void {
    this.#add('FieldValueForbidden', 'Forbidden', why);
  }

  duplicate(value = this.value): void {
    this.#add('FieldValueDuplicate', `Duplicate value: ${shown(value)}`);
  }

  notFound(value = this.value): void {
    this.#add('FieldValueNotFound', `Not found: ${shown(value)}`);
  }

  tooLong(limitBytes: number): void {
    this.#add('FieldValueTooLong', 'Too long', `may not be more than ${limitBytes} bytes`);
  }

  /** A value of the wrong type in a custom resource; `given` is its type, or the string that has not the format. */
  typeInvalid(given: string, why: string): void {
    this.#add('FieldValueTypeInvalid', `Invalid value: ${JSON.stringify(given)}`, why);
  }

  tooMany(count: number, limit: number): void {
    this.#add('FieldValueTooMany', `Too many: ${count}`, `must have at most ${limit} items`);
  }

  notSupported(supported: readonly string[], value = this.value): void {
    const values = supported.map((each) => JSON.stringify(each)).join(', ');
    this.#add('FieldValueNotSupported', `Unsupported value: ${shown(value)}`, `supported values: ${values}`);
  }

  /** Reports each of these problems of the value, and returns whether there is none. */
  check(problems: readonly string[], value = this.value): boolean {
    for (const problem of problems) this.invalid(problem, value);
    return problems.length === 0;
  }

  /** A string that must not be empty, and follows the rule. */
  require(rule: NameRule = () => [], why = ''): void {
    if (this.string === '') this.required(why);
    else this.check(rule(this.string));
  }

  /** A string that follows the rule if it is not empty. */
  checkIfSet(rule: NameRule): void {
    if (this.string !== '') this.check(rule(this.string));
  }

  /** A number that must not be below zero; undefined is accepted. */
  nonNegative(): void {
    if (typeof this.value === 'number' && this.value < 0) this.invalid('must be greater than or equal to 0');
  }

  /** A value out of a fixed set; missing is an error of its own. */
  oneOf(supported: readonly string[]): void {
    if (this.isSet && this.value !== '') this.oneOfIfSet(supported);
    else this.required();
  }

  /** A value out of a fixed set; undefined is accepted. */
  oneOfIfSet(supported: readonly string[]): void {
    if (this.isSet && !supported.includes(scalarString(this.value))) this.notSupported(supported);
  }

  /** A value that none of its siblings has; `seen` holds theirs. */
  unique(seen: Set<string>, value = this.string): void {
    if (seen.has(value)) this.duplicate(value);
    else seen.add(value);
  }

  #add(reason: string, what: string, why = ''): void {
    this.causes.push({ reason, message: why === '' ? what : `${what}: ${why}`, field: this.path });
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
