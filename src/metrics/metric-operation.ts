/**
 * Parses the file `METRICS_PATH` of a hook: JSON objects, one after another. It is all or nothing: one mistake fails the
 * run and nothing is applied. Only an unknown action is skipped with a warning, as in the original.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { isObject } from '@addon-operator/json';
import { hasMoreItems, jsonStream } from '@addon-operator/json/json-stream';

interface Sample {
  readonly name: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent means the group of the hook itself. */
  readonly group?: string;
}

/** An operation of a hook on a metric; an amount to add is a whole number that is not negative. */
export type MetricOperation =
  | ({ readonly action: 'add' } & Sample)
  | ({ readonly action: 'set' } & Sample)
  | ({ readonly action: 'observe'; readonly buckets: readonly number[] } & Sample)
  | { readonly action: 'expire'; readonly group?: string };

export interface ParsedMetricOperations {
  readonly operations: readonly MetricOperation[];
  /** Why operations were skipped; the hook does not fail because of them. */
  readonly warnings: readonly string[];
}

/** Buckets of a histogram whose operation gives none: those of the Prometheus libraries. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MAX_BUCKETS = 200;
/** Keys and values of all operations, which are applied at once: enough for 10,000 series with ten labels each. */
const MAX_ITEMS = 300_000;
/** As Prometheus defines them; labels that begin with `__` are reserved. */
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Reads what a hook wrote to METRICS_PATH: JSON objects one after another; an empty text is no operation.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID, `got bad metrics: …`, when any of it is wrong: then nothing may be applied
 */
export function parseMetricOperations(output: string): ParsedMetricOperations {
  return finish(metricOperationSteps(output));
}

/** The steps of {@link parseMetricOperations}. */
export function* metricOperationSteps(output: string): Steps<ParsedMetricOperations> {
  const operations: MetricOperation[] = [];
  const warnings: string[] = [];
  const objects: Record<string, unknown>[] = [];
  if (hasMoreItems(output, MAX_ITEMS))
    throw badMetrics(`it has more than ${MAX_ITEMS} keys and values`, undefined);
  for (const part of jsonStream(output)) {
    objects.push(parseObject(part.text));
    yield;
  }
  for (const [index, raw] of objects.entries()) {
    try {
      const operation = parseOperation(raw);
      if (operation === undefined) warnings.push(skipReason(raw, index));
      else operations.push(operation);
    } catch (error) {
      throw badMetrics(`operation ${index + 1}: ${messageOf(error)}`, error);
    }
    yield;
  }
  return { operations, warnings };
}

function parseObject(output: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(output);
    if (!isObject(value)) throw new SyntaxError('an operation must be a JSON object');
    return value;
  } catch (error) {
    throw badMetrics(messageOf(error), error);
  }
}

function badMetrics(reason: string, cause: unknown): OperatorError {
  return new OperatorError('HOOK_OUTPUT_INVALID', `got bad metrics: ${reason}`, { cause });
}

function skipReason(raw: Record<string, unknown>, index: number): string {
  const action =
    raw['action'] === undefined ? 'no action' : `unknown action ${JSON.stringify(raw['action'])}`;
  return `metric operation ${index + 1} (${JSON.stringify(raw['name'] ?? '')}) is skipped: ${action}; use add, set, observe or expire`;
}

/** `undefined` for an operation with an unknown action. */
function parseOperation(raw: Record<string, unknown>): MetricOperation | undefined {
  const name = optional(raw, 'name', 'a string', isString) ?? '';
  const group = optional(raw, 'group', 'a string', isString) ?? '';
  const labels = optional(raw, 'labels', 'an object of strings', isStringMap) ?? {};
  const buckets = optional(raw, 'buckets', 'an array of numbers', isNumberList);
  const { action, value } = readAmount(raw);
  if (action === 'expire') return { action, ...(group !== '' && { group }) };
  if (action !== 'add' && action !== 'set' && action !== 'observe') return undefined;
  if (name === '') throw new Error(`'name' is required for action '${action}'`);
  if (!METRIC_NAME.test(name)) throw new Error(`'name' ${JSON.stringify(name)} is not a metric name`);
  if (value === undefined) throw new Error(`'value' is required for action '${action}' of metric '${name}'`);
  for (const label of Object.keys(labels)) {
    if (!LABEL_NAME.test(label) || (action === 'observe' && label === 'le'))
      throw new Error(`'labels' of metric '${name}': ${JSON.stringify(label)} is not a label name`);
  }
  const sample = { name, value, labels, ...(group !== '' && { group }) };
  if (action === 'set') return { action, ...sample };
  if (action === 'add') {
    if (value < 0) throw new Error(`'value' of counter '${name}' must not be negative`);
    // Counters of the original are whole numbers.
    return { action, ...sample, value: Math.trunc(value) };
  }
  if (buckets === undefined)
    throw new Error(`'buckets' is required for action 'observe' of metric '${name}'`);
  return { action, ...sample, buckets: bucketBounds(name, buckets) };
}

/** Sorted and without duplicates. @throws Error for too many */
function bucketBounds(name: string, buckets: readonly number[]): readonly number[] {
  if (buckets.length > MAX_BUCKETS)
    throw new Error(`'buckets' of metric '${name}' are more than ${MAX_BUCKETS}`);
  if (buckets.length === 0) return DEFAULT_BUCKETS;
  return [...new Set(buckets)].toSorted((a, b) => a - b);
}

/** The fields `add` and `set` are short for action and value; both together are ignored. */
function readAmount(raw: Record<string, unknown>): {
  readonly action: string;
  readonly value: number | undefined;
} {
  const add = optional(raw, 'add', 'a number', isNumber);
  const set = optional(raw, 'set', 'a number', isNumber);
  if (add !== undefined && set === undefined) return { action: 'add', value: add };
  if (set !== undefined && add === undefined) return { action: 'set', value: set };
  return {
    action: optional(raw, 'action', 'a string', isString) ?? '',
    value: optional(raw, 'value', 'a number', isNumber),
  };
}

/** Null counts as absent. @throws Error naming the field and the expected type */
function optional<T>(
  raw: Record<string, unknown>,
  field: string,
  expected: string,
  isExpected: (value: unknown) => value is T,
): T | undefined {
  const value = Object.hasOwn(raw, field) ? raw[field] : undefined;
  if (value === undefined || value === null) return undefined;
  if (!isExpected(value)) throw new Error(`'${field}' must be ${expected}`);
  return value;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isNumberList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isNumber);
}

function isStringMap(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every(isString);
}
