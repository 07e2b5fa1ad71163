import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { messageOf } from '../../lib/errors.ts';
import { re2Pattern } from './re2-pattern.ts';

const MATCHES = 'matches';
/** The library does not allow its functions to be replaced, so ours has another name. */
const RE2_MATCHES = 'matchesRe2';

/** Adds what {@link useRe2} makes of `matches`. The one of the library needs exponential time for some patterns. */
export function registerRe2(environment: Environment): Environment {
  return environment.registerFunction(
    `string.${RE2_MATCHES}(string): bool`,
    (text: string, pattern: string) => {
      try {
        return re2Pattern(pattern).test(text);
      } catch (cause) {
        throw new EvaluationError({ code: 'invalid_regular_expression', message: messageOf(cause), cause });
      }
    },
  );
}

/**
 * Replaces each call of `matches` in a parsed expression, before it is first evaluated.
 *
 * @throws SyntaxError for a literal that is no pattern
 */
export function useRe2(node: unknown): void {
  if (Array.isArray(node)) {
    for (const inner of node) useRe2(inner);
    return;
  }
  if (typeof node !== 'object' || node === null || !('op' in node && 'args' in node)) return;
  const { op, args } = node;
  if (op === 'rcall' && Array.isArray(args) && args[0] === MATCHES) {
    args[0] = RE2_MATCHES;
    const [pattern] = Object(args[2]);
    if (pattern?.op === 'value' && typeof pattern.args === 'string') re2Pattern(pattern.args);
  }
  useRe2(args);
}

/** A message of the library in the words of the expression. */
export function withOwnNames(message: string): string {
  return message.replaceAll(RE2_MATCHES, MATCHES);
}
