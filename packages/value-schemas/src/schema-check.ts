import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { JsonObject } from '@addon-operator/json';
import { escapeSegment } from '@addon-operator/json/pointer';
import { Ajv, type ErrorObject } from 'ajv';
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

/** Checks whether a document is a JSON schema. Create one for many documents: its preparation costs most. */
export class SchemaCheck {
  #ajv: Ajv | undefined;

  /** @throws OperatorError VALUES_INVALID listing everything by which it is no schema */
  assertSchema(schema: JsonObject): void {
    this.#ajv ??= new Ajv({ allErrors: true, strict: false, logger: false });
    if (this.#ajv.validateSchema(schema) !== true) {
      throw new OperatorError('VALUES_INVALID', reasonsOf(this.#ajv.errors ?? []).join('\n'));
    }
    checkPatterns(schema, 'schema');
  }
}

/** One reason for each place: of a word that is no type ajv says as well that it is no list, and neither of the two. */
function reasonsOf(errors: readonly ErrorObject[]): readonly string[] {
  const reasons = new Map<string, string>();
  for (const { instancePath, keyword, message, params } of errors) {
    const place = `schema${instancePath}`;
    if (keyword === 'anyOf' || reasons.has(place)) continue;
    const { allowedValues } = params;
    const problem = Array.isArray(allowedValues) ? `must be one of ${allowedValues.join(', ')}` : message;
    reasons.set(place, `${place} ${problem}`);
  }
  return [...reasons.values()];
}

/**
 * Compiles every pattern in a schema, so that a bad one is reported at start. Throws VALUES_INVALID with its
 * path.
 */
function checkPatterns(schema: unknown, path: string): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    const at = `${path}/${escapeSegment(key)}`;
    if (key === 'enum' && Array.isArray(value)) continue;
    if (key === 'pattern' && typeof value === 'string') checkPattern(value, at);
    if (key === 'patternProperties')
      for (const pattern of Object.keys(Object(value))) checkPattern(pattern, at);
    // Where null is allowed, combinations were moved below `else`: the author knows nothing of it.
    checkPatterns(value, key === 'else' ? path : at);
  }
}

function checkPattern(pattern: string, path: string): void {
  try {
    re2Pattern(pattern);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new OperatorError(
      'VALUES_INVALID',
      `${path}: pattern '${pattern}' is not a Go regular expression: ${reason}`,
      { cause },
    );
  }
}
