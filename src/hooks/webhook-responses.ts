/** Parses what hooks respond to admission and conversion requests. Messages never quote the response: it may hold secrets. */

import { isObject, parseSecretJson } from '@addon-operator/json';
import { splitJsonStream } from '@addon-operator/json/json-stream';

/** The response of a hook to an admission request. */
export interface AdmissionResponse {
  readonly isAllowed: boolean;
  /** Why not; empty where the hook gave no reason. */
  readonly message: string;
  readonly warnings: readonly string[];
  /** A JSON patch in base64, as it goes to the API server; empty = no change. */
  readonly patch: string;
}

/** Strict: `Buffer.from` ignores characters that are not base64. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const OPERATIONS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/**
 * Understands the file of `$VALIDATING_RESPONSE_PATH`: one JSON object, what follows it does not count.
 *
 * @returns undefined for an empty file
 * @throws Error saying what is wrong, also with the patch, which the API server could not apply
 */
export function parseAdmissionResponse(text: string): AdmissionResponse | undefined {
  const first = splitJsonStream(text)[0];
  if (first === undefined) return undefined;
  const response = parseSecretJson(first.text, 'it is not valid JSON') ?? {};
  if (!isObject(response)) throw new Error('a JSON object is expected');
  const { allowed = false, message = '', warnings = [], patch = '' } = withoutNulls(response);
  if (typeof allowed !== 'boolean') throw new Error("'allowed' must be true or false");
  if (typeof message !== 'string') throw new Error("'message' must be a string");
  if (!Array.isArray(warnings) || !warnings.every((item) => typeof item === 'string'))
    throw new Error("'warnings' must be a list of strings");
  if (typeof patch !== 'string')
    throw new Error("'patch' must be a string: the JSON patch encoded in base64, not the list itself");
  checkPatch(patch);
  return { isAllowed: allowed, message, warnings, patch };
}

/** Null means the same as no value. */
function withoutNulls(response: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== null));
}

function checkPatch(patch: string): void {
  if (patch === '') return;
  if (!BASE64.test(patch)) throw new Error("'patch' is not base64");
  const operations = parseSecretJson(
    Buffer.from(patch, 'base64').toString('utf8'),
    "'patch' does not contain JSON",
  );
  if (!Array.isArray(operations)) throw new Error("'patch' does not contain a list of operations");
  for (const [index, operation] of operations.entries()) {
    const problem = operationProblem(operation);
    if (problem !== undefined) throw new Error(`operation ${index} of 'patch' ${problem}`);
  }
}

/** Why the API server could not apply an operation; undefined if it could. */
function operationProblem(operation: unknown): string | undefined {
  if (!isObject(operation)) return 'is not an object';
  const { op, path, from } = operation;
  if (!OPERATIONS.has(op)) return `has no valid 'op': ${[...OPERATIONS].join(', ')}`;
  if (!isPointer(path)) return "has no valid 'path': empty, or beginning with '/'";
  if ((op === 'move' || op === 'copy') && !isPointer(from)) return "has no valid 'from'";
  const needsValue = op === 'add' || op === 'replace' || op === 'test';
  return needsValue && !('value' in operation) ? "has no 'value'" : undefined;
}

function isPointer(value: unknown): boolean {
  return typeof value === 'string' && (value === '' || value.startsWith('/'));
}

/** The response of a hook to a conversion request. */
export type ConversionResponse =
  | { readonly type: 'converted'; readonly objects: readonly unknown[] }
  | { readonly type: 'failed'; readonly message: string };

/**
 * Understands the file in `$CONVERSION_RESPONSE_PATH`; undefined for an empty one.
 *
 * @throws Error for anything but one JSON object with `convertedObjects` or `failedMessage`
 */
export function parseConversionResponse(text: string): ConversionResponse | undefined {
  if (text.trim() === '') return undefined;
  const response = parseSecretJson(text, 'it is not valid JSON, or has more than one value');
  if (!isObject(response)) throw new Error('a JSON object is expected');
  const { failedMessage, convertedObjects } = response;
  if (failedMessage !== undefined && failedMessage !== '') {
    if (typeof failedMessage !== 'string') throw new Error('failedMessage must be a string');
    return { type: 'failed', message: failedMessage };
  }
  if (!Array.isArray(convertedObjects))
    throw new Error('convertedObjects (a list of objects) or failedMessage (a string) is expected');
  return { type: 'converted', objects: convertedObjects };
}
