import { OperatorError } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import { hasMoreItems } from '@addon-operator/json/json-stream';

/** Longest part of a program that a message shows. */
const MAX_SHOWN_LENGTH = 200;
/**
 * Keys and values that a result may hold. The daemon parses it in its own thread, where a number costs a microsecond and more
 * as soon as one of them is beyond 2^53, and writes it with sorted keys to compare it: 300,000 take two thirds of a second.
 */
export const MAX_ITEMS = 300_000;

/**
 * The outputs in a result line: an array, or an object whose `error` is the value that the program raised.
 *
 * @throws OperatorError JQ_RUNTIME with jq's message, or when the result holds too many values
 */
export function parseResponse(program: string, line: string): readonly unknown[] {
  if (hasMoreItems(line, MAX_ITEMS)) throw tooManyItems(program);
  const response = parseJson(line);
  if (Array.isArray(response)) return response;
  const error = isObject(response) ? response['error'] : undefined;
  const reason = typeof error === 'string' ? error : JSON.stringify(error ?? null);
  throw runtimeError(program, reason);
}

/** The error for a result with more than {@link MAX_ITEMS} keys and values. */
export function tooManyItems(program: string): OperatorError {
  return runtimeError(
    program,
    `its output for one object has more than ${MAX_ITEMS} keys and values: select fewer fields, or join them to strings`,
  );
}

/** A program that failed on an object. */
export function runtimeError(program: string, reason: string, cause?: unknown): OperatorError {
  return new OperatorError('JQ_RUNTIME', `Cannot apply the jq filter ${showProgram(program)}: ${reason}`, {
    cause,
  });
}

/** A program that is not valid, or that did not compile in time. */
export function compileError(program: string, reason: string, cause?: unknown): OperatorError {
  return new OperatorError('JQ_COMPILE', `Cannot compile the jq filter ${showProgram(program)}: ${reason}`, {
    cause,
  });
}

/** An error of the process, for the filter that was being applied. */
export function withProgram(program: string, error: unknown): unknown {
  if (!(error instanceof OperatorError)) return error;
  const message = `Cannot apply the jq filter ${showProgram(program)}: ${error.message}`;
  return new OperatorError(error.code, message, { cause: error });
}

/** The program in quotes, cut at {@link MAX_SHOWN_LENGTH}. */
function showProgram(program: string): string {
  const shown = program.length > MAX_SHOWN_LENGTH ? `${program.slice(0, MAX_SHOWN_LENGTH)}…` : program;
  return JSON.stringify(shown);
}

/** A request to the process of the built-in engine. */
export interface BuiltinRequest {
  readonly program: string;
  /** JSON text of the input; without it the program is only compiled, and the outputs are none. */
  readonly input: string | undefined;
}

/** JSON of the daemon has no tab: it is escaped in strings, and `JSON.stringify` writes none between them. */
const SEPARATOR = '\t';

/** One line for the process: the program as JSON string, then the input as it is. */
export function requestLine({ program, input }: BuiltinRequest): string {
  const encoded = JSON.stringify(program);
  return input === undefined ? encoded : `${encoded}${SEPARATOR}${input}`;
}

/** The request that {@link requestLine} wrote. */
export function splitRequest(line: string): BuiltinRequest {
  const end = line.indexOf(SEPARATOR);
  const program: unknown = JSON.parse(end === -1 ? line : line.slice(0, end));
  return { program: String(program), input: end === -1 ? undefined : line.slice(end + 1) };
}
