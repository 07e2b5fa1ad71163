import { errorFields, hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { boundedDelay } from '@addon-operator/concurrency/bounded-time';
import { isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { PointMethod } from '@addon-operator/sdk/host';

/** The behaviour that an extension may change. */
export type Next<Input, Result> = (input: Input) => Promise<Result>;

/** A default behaviour that does not wait. */
export function nextOf<Input, Result>(behaviour: (input: Input) => Result): Next<Input, Result> {
  return async (input) => await Promise.resolve(behaviour(input));
}

/**
 * An extension point as the operator calls it: the input, the default behaviour, the version of the
 * object's API, and a log. It exists with or without an extension, so callers need no case for
 * either.
 */
export type Point<Input, Result> = (
  input: Input,
  next: Next<Input, Result>,
  apiVersion: string,
  log: Logger,
  signal: AbortSignal,
) => Promise<Result>;

/** A method of a host. Its argument to `next` and its result are unchecked. */
export type HostMethod = (
  input: unknown,
  next: (input: unknown) => Promise<unknown>,
  apiVersion: string,
  log: Logger,
  signal: AbortSignal,
) => Promise<unknown>;

/** The extensions of one kind; its methods show which points it extends. */
export type PointHost = Readonly<Partial<Record<PointMethod, HostMethod>>> & {
  /** The name in logs: its class or its file. */
  readonly name: string;
  /** The file, for messages. */
  readonly path?: string;
};

interface PointParts<Input, Result> {
  readonly method: PointMethod;
  /** Checks the argument of `next`; throws EXTENSION_FAILED if it is invalid. */
  readonly readInput: (given: unknown, input: Input) => Input;
  /** Checks the result; throws EXTENSION_FAILED if it is invalid. */
  readonly readResult: (returned: unknown, input: Input) => Result;
}

/**
 * Creates a point with a host, which may lack the method; entry and exit are logged in either case.
 */
export function createPoint<Input, Result>(
  { method, readInput, readResult }: PointParts<Input, Result>,
  host: PointHost | undefined,
): Point<Input, Result> {
  const extension = host?.[method];
  return async (input, next, apiVersion, log, signal) => {
    const file = host?.path ?? host?.name ?? '';
    const callExtension = async (call: HostMethod): Promise<Result> => {
      const read = <T>(what: () => T): T => withFile(file, what);
      const checkedNext = (given: unknown) => next(read(() => readInput(given, input)));
      const returned = await call(input, checkedNext, apiVersion, log, signal);
      return read(() => readResult(returned, input));
    };
    const fields = { point: method, ...(extension !== undefined && { extension: host?.name }) };
    log.debug(fields, 'extension point entered');
    try {
      const result = extension === undefined ? await next(input) : await callExtension(extension);
      log.debug(fields, 'extension point left');
      return result;
    } catch (error) {
      if (!signal.aborted && extension !== undefined)
        log.error({ ...fields, ...errorFields(error) }, 'extension point failed');
      throw error;
    }
  };
}

/** Checks a value of an extension; an error names the extension's file. */
function withFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!hasCode(cause, 'EXTENSION_FAILED')) throw cause;
    throw new OperatorError('EXTENSION_FAILED', `extension '${file}': ${messageOf(cause)}`, { cause });
  }
}

/** Chains points: the default behaviour of each is the next one. */
export function chainPoints<Input, Result>(points: readonly Point<Input, Result>[]): Point<Input, Result> {
  return (input, next, apiVersion, log, signal) => {
    const call = (index: number): Next<Input, Result> => {
      const point = points[index];
      return point === undefined ? next : (given) => point(given, call(index + 1), apiVersion, log, signal);
    };
    return call(0)(input);
  };
}

// Longer messages of extensions would fill the log.
const MAX_TEXT = 4_096;

/** The error for an invalid result of an extension. */
export function unusable(method: PointMethod, what: string): OperatorError {
  return new OperatorError('EXTENSION_FAILED', `Cannot use the result of ${method}(): ${what}`);
}

/** Checks that a value is a Kubernetes object of the same kind and name as another one. */
export function readObject(method: PointMethod, value: unknown, like: KubeObject): KubeObject {
  if (!isObject(value) || !isObject(value['metadata']))
    throw unusable(method, 'it must be an object with apiVersion, kind and metadata');
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') throw unusable(method, 'it has no apiVersion');
  if (kind !== like.kind || metadata['name'] !== like.metadata.name)
    throw unusable(
      method,
      `it must remain ${String(like.kind)} "${like.metadata.name}", but is ${String(kind)} "${String(metadata['name'])}"`,
    );
  return { ...value, metadata: { ...metadata, name: like.metadata.name } };
}

/** Reads the reason and the delay of a check. */
export function readDelay(
  method: PointMethod,
  { reason, retryAfterMs }: Readonly<Record<string, unknown>>,
): { readonly reason: string; readonly retryAfterMs: number } {
  if (typeof retryAfterMs !== 'number' || !(retryAfterMs > 0))
    throw unusable(method, 'retryAfterMs must be a number greater than zero');
  return { reason: readText(method, 'reason', reason), retryAfterMs: boundedDelay(retryAfterMs) };
}

/** Reads a string that is not empty, cut to a length fit for a log. */
export function readText(method: PointMethod, field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw unusable(method, `${field} must be a string`);
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}
