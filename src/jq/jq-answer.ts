import { OperatorError } from '../lib/errors.ts';
import { isObject, parseJson } from '../lib/json.ts';

/** Longest part of a program that a message shows. */
const MAX_SHOWN_LENGTH = 200;

/**
 * The outputs that an answer line holds: an array, or an object whose `error` is what jq's `error` was given.
 *
 * @throws OperatorError JQ_RUNTIME with jq's message
 */
export function parseAnswer(program: string, line: string): readonly unknown[] {
  const answer = parseJson(line);
  if (Array.isArray(answer)) return answer;
  const error = isObject(answer) ? answer['error'] : undefined;
  const reason = typeof error === 'string' ? error : JSON.stringify(error ?? null);
  throw new OperatorError('JQ_RUNTIME', `Cannot apply the jq filter ${showProgram(program)}: ${reason}`);
}

export function compileError(program: string, reason: string, cause?: unknown): OperatorError {
  return new OperatorError('JQ_COMPILE', `Cannot compile the jq filter ${showProgram(program)}: ${reason}`, {
    cause,
  });
}

/** An error of the process, told for the filter that was being applied. */
export function withProgram(program: string, error: unknown): unknown {
  if (!(error instanceof OperatorError)) return error;
  const message = `Cannot apply the jq filter ${showProgram(program)}: ${error.message}`;
  return new OperatorError(error.code, message, { cause: error });
}

function showProgram(program: string): string {
  const shown = program.length > MAX_SHOWN_LENGTH ? `${program.slice(0, MAX_SHOWN_LENGTH)}…` : program;
  return JSON.stringify(shown);
}
