import { type Json, parseJson } from '@addon-operator/json';
import type { ExtensionMethod } from './extension-definition.ts';
import { frozen } from './frozen.ts';
import { hookLog } from './hook-log.ts';
import { strictJson } from './strict-json.ts';

/** The arguments of a call. */
export interface CallArguments {
  /** A list as JSON. */
  readonly args: string;
  /** Takes a list as JSON, and gives JSON or undefined. */
  readonly next: (args: string) => Promise<string | undefined>;
  /** Gets the lines of the log. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Calls a method of an extension and waits for it. Gives its result as JSON, undefined for undefined.
 *
 * @throws TypeError when it returned what is no JSON; Error when a `next()` it called had not ended by then
 * @throws what the method throws
 */
export async function callExtension(
  method: ExtensionMethod,
  { args, next, print, signal }: CallArguments,
): Promise<string | undefined> {
  let open = 0;
  let isOver = false;
  const checkedNext = async (...given: readonly unknown[]): Promise<Json | undefined> => {
    if (isOver) throw new Error('next() was called after the end of its call');
    const text = strictJson('the argument of next()', given) ?? '[]';
    open += 1;
    try {
      const response = await next(text);
      return response === undefined ? undefined : (parseJson(response) as Json);
    } finally {
      open -= 1;
    }
  };
  try {
    const list = frozen(parseJson(args)) as readonly Json[];
    const call = Object.freeze({ args: list, next: checkedNext, log: hookLog(print), signal });
    const returned = await method(call);
    if (open > 0)
      throw new Error('it returned before next() had finished: it must await the result of next()');
    return strictJson('its result', returned);
  } finally {
    isOver = true;
  }
}
