import { RE2JS, RE2JSException } from 're2js';

interface Re2Pattern {
  /** Whether any part of the text matches. The time grows linearly with the text, for every pattern. */
  test(text: string): boolean;
}

/**
 * A regular expression that others wrote, in the syntax of Go. Those of JavaScript need exponential time for some
 * patterns, and would block the event loop.
 *
 * @throws SyntaxError saying what is wrong; also for what Go does not have, such as `(?=…)` and `\1`
 */
export function re2Pattern(pattern: string): Re2Pattern {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause;
    throw new SyntaxError(cause.message.replace('error parsing regexp: ', ''), { cause });
  }
}
