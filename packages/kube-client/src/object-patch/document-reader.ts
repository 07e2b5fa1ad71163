import { isObject } from '@addon-operator/json';
import { pathBeyond } from '@addon-operator/json/depth';
import { formatPointer } from '@addon-operator/json/pointer';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import { readEmbedded, YamlTextError } from './patch-documents.ts';

/**
 * API servers store a little less than 10,000 levels. With managed fields an object may become deeper than its writer made
 * it, and one beyond that makes every list of its kind fail in the server.
 */
const MAX_LEVELS = 9_000;
const MAX_PATH_CHARACTERS = 200;

/** Reads fields of one document and collects every problem with them. Null counts as absent. */
export class DocumentReader {
  readonly problems: string[] = [];
  readonly #document: Readonly<Record<string, unknown>>;

  constructor(document: Readonly<Record<string, unknown>>) {
    this.#document = document;
  }

  /** Undefined where absent or empty. */
  string(field: string): string | undefined {
    const value = this.#document[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value === 'string') return value;
    this.problems.push(`${field} must be a string`);
    return undefined;
  }

  /** Empty, and a problem, where absent. */
  requiredString(field: string): string {
    const value = this.#document[field];
    if (value === undefined || value === null || value === '') this.problems.push(`${field} is required`);
    return this.string(field) ?? '';
  }

  /** A part of a URL path; empty where absent. Numbers count as strings: YAML reads a name such as `123` as one. */
  pathSegment(field: string): string {
    const value = this.#document[field];
    if (value === undefined || value === null || value === '') return '';
    const segment = typeof value === 'string' ? value : numberAsWritten(value);
    if (segment === undefined) this.problems.push(`${field} must be a string`);
    else if (isPathSegment(segment)) return segment;
    else this.problems.push(`${field} must not be "." or ".." or contain "/" or "%"`);
    return '';
  }

  /** As {@link pathSegment}; a problem where absent. */
  requiredPathSegment(field: string): string {
    const value = this.#document[field];
    if (value === undefined || value === null || value === '') this.problems.push(`${field} is required`);
    return this.pathSegment(field);
  }

  /** False, without a problem, where absent. */
  flag(field: string): boolean {
    const value = this.#document[field];
    if (value === undefined || value === null) return false;
    if (typeof value === 'boolean') return value;
    this.problems.push(`${field} must be true or false`);
    return false;
  }

  /** A mapping, or a string with YAML or JSON of one; only the string may hold an empty one. */
  mapping(field: string): Readonly<Record<string, unknown>> {
    const value = this.#structure(field);
    if (isObject(value)) return this.#ofUsualDepth(field, value);
    if (value !== undefined)
      this.problems.push(`${field} must be a mapping, or a string with YAML or JSON of one`);
    return {};
  }

  /** A list, or a string with YAML or JSON of one; only the string may hold an empty one. */
  list(field: string): readonly unknown[] {
    const value = this.#structure(field);
    if (Array.isArray(value)) return this.#ofUsualDepth(field, value);
    if (value !== undefined)
      this.problems.push(`${field} must be a list, or a string with YAML or JSON of one`);
    return [];
  }

  /**
   * Reports a value that is nested too deep; it is returned all the same, since a problem ends the operation
   * anyway.
   */
  #ofUsualDepth<T>(field: string, value: T): T {
    const path = pathBeyond(value, MAX_LEVELS);
    if (path !== undefined) {
      const place = cutMiddle(formatPointer(path), MAX_PATH_CHARACTERS);
      this.problems.push(`${field} is nested deeper than ${MAX_LEVELS} levels at ${place}`);
    }
    return value;
  }

  /** The value behind a field; undefined, with a problem, where there is none. */
  #structure(field: string): unknown {
    const value = this.#document[field];
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    if (value === undefined || value === null || isEmpty) {
      this.problems.push(`${field} is required and must not be empty`);
      return undefined;
    }
    if (typeof value !== 'string') return value;
    if (value.trim() === '') {
      this.problems.push(`${field} is required and must not be empty`);
      return undefined;
    }
    try {
      return readEmbedded(value);
    } catch (error) {
      if (!(error instanceof YamlTextError)) throw error;
      this.problems.push(`${field} is a string that cannot be read: ${error.message}`);
      return undefined;
    }
  }
}

/** The rule of the API server for names in URLs. */
export function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name);
}

/** The digits of a number; undefined for other values. Raw JSON numbers are objects to TypeScript. */
function numberAsWritten(value: unknown): string | undefined {
  const json = JSON.stringify(value);
  return json !== undefined && /^-?\d/.test(json) ? json : undefined;
}
