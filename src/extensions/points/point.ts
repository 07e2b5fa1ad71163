import { errorFields, hasCode, messageOf, OperatorError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { PointMethod } from '../../sdk/extension-points.ts';

/** The behaviour that an extension may change. */
export type Next<Input, Result> = (input: Input) => Promise<Result>;

/** A default behaviour that needs not wait for anything. */
export function nextOf<Input, Result>(behaviour: (input: Input) => Result): Next<Input, Result> {
  return async (input) => await Promise.resolve(behaviour(input));
}

/**
 * An extension point as the operator calls it: the input, the default behaviour, the version of the object's API, and a
 * log. There is always one to call, whether or not somebody extends it.
 */
export type Point<Input, Result> = (
  input: Input,
  next: Next<Input, Result>,
  apiVersion: string,
  log: Logger,
  signal: AbortSignal,
) => Promise<Result>;

/** A method of a host. What it gives to `next`, and what it returns, is whatever its author made of it. */
export type HostMethod = (
  input: unknown,
  next: (input: unknown) => Promise<unknown>,
  apiVersion: string,
  log: Logger,
  signal: AbortSignal,
) => Promise<unknown>;

/** Extensions for one kind of object; which points it extends shows by its methods. */
export type PointHost = Readonly<Partial<Record<PointMethod, HostMethod>>> & {
  /** For logs: its class, or its file. */
  readonly name: string;
  /** Its file, for messages. */
  readonly path?: string;
};

interface PointParts<Input, Result> {
  readonly method: PointMethod;
  /** Takes what the host gave to `next`; throws EXTENSION_FAILED for what is none. */
  readonly readInput: (given: unknown, input: Input) => Input;
  /** Takes what the host returned; throws EXTENSION_FAILED for what is none. */
  readonly readResult: (returned: unknown, input: Input) => Result;
}

/** The point with a host, which need not have the method; entry and exit are logged in either case. */
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

/** Reads what an extension gave; a failure names the file of the extension. */
function withFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!hasCode(cause, 'EXTENSION_FAILED')) throw cause;
    throw new OperatorError('EXTENSION_FAILED', `extension '${file}': ${messageOf(cause)}`, { cause });
  }
}

/** One point after the other: the first one's default behaviour is the second one, and so on. */
export function chainPoints<Input, Result>(points: readonly Point<Input, Result>[]): Point<Input, Result> {
  return (input, next, apiVersion, log, signal) => {
    const call = (index: number): Next<Input, Result> => {
      const point = points[index];
      return point === undefined ? next : (given) => point(given, call(index + 1), apiVersion, log, signal);
    };
    return call(0)(input);
  };
}
