// Custom rules of schemas, written in CEL. A rule is compiled when its schema is parsed, so that a bad one is
// reported with the schema, and evaluated for every map that the schema describes. A rule that reads a
// missing key holds. Messages of the CEL library are filtered: they may quote values.

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { escapeSegment } from '@addon-operator/json/pointer';
import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { re2Pattern } from './schema-check.ts';
import { RULES_KEY, type RuleContext, type SchemaRules } from './schema-rules.ts';
import { mapIn } from './sub-schemas.ts';

interface Rule {
  readonly expression: string;
  readonly message: string;
  readonly comparesWithPrevious: boolean;
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown;
}

/** The rules of one schema and of those inside it. */
interface Level {
  readonly rules: readonly Rule[];
  readonly properties: ReadonlyMap<string, Level>;
  /** Of each item of a list. */
  readonly items: Level | undefined;
  /** Of each property that is not listed. */
  readonly others: Level | undefined;
}

/** A value, what it was before, and its pointer. */
interface Place {
  readonly value: Json | undefined;
  readonly previous: Json | undefined;
  readonly pointer: string;
}

/**
 * Finds the CEL rules in a schema: of the section itself, of its properties and of the items of its lists. Numbers of
 * values are doubles in them, as JSON has no others.
 *
 * @returns undefined when there are none
 * @throws OperatorError VALUES_INVALID for a rule without expression or message, or one that is no CEL
 */
export function parseCelRules(schema: JsonObject): SchemaRules | undefined {
  const variables = new Environment().registerVariable('self', 'map').registerVariable('oldSelf', 'map');
  const environment = registerRe2(variables);
  const root = readLevel(schema, environment);
  if (root === undefined) return undefined;
  return {
    problems: (value, context) => [
      ...new Set(problemsIn(root, { value, previous: context.previous, pointer: '' }, context)),
    ],
  };
}

/** The rules of one schema and of those inside it; undefined if there are none. */
function readLevel(schema: Json | undefined, environment: Environment): Level | undefined {
  if (!isJsonMap(schema)) return undefined;
  const properties = new Map<string, Level>();
  for (const [name, child] of Object.entries(mapIn(schema, 'properties'))) {
    const level = readLevel(child, environment);
    if (level !== undefined) properties.set(name, level);
  }
  const rules = readRules(schema, environment);
  const items = readLevel(ownValue(schema, 'items'), environment);
  const others = readLevel(ownValue(schema, 'additionalProperties'), environment);
  const isEmpty = rules.length === 0 && properties.size === 0 && items === undefined && others === undefined;
  return isEmpty ? undefined : { rules, properties, items, others };
}

/** The rules of one schema. Throws VALUES_INVALID for one without expression or message. */
function readRules(schema: JsonObject, environment: Environment): readonly Rule[] {
  const rules = ownValue(schema, RULES_KEY);
  if (rules === undefined) return [];
  if (!Array.isArray(rules)) throw invalid('a list of rules is expected');
  return rules.map((rule: Json) => {
    if (!isJsonMap(rule)) throw invalid('each rule is a map with expression and message');
    const expression = requiredString(rule, 'expression');
    const message = requiredString(rule, 'message');
    return { ...compile(expression, environment), expression, message };
  });
}

function requiredString(rule: JsonObject, key: string): string {
  const value = ownValue(rule, key);
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`missing ${key}`);
}

function invalid(why: string): OperatorError {
  return new OperatorError('VALUES_INVALID', `${RULES_KEY} invalid: ${why}`);
}

/** Type-checks and parses an expression. Throws VALUES_INVALID. */
function compile(
  expression: string,
  environment: Environment,
): Pick<Rule, 'comparesWithPrevious' | 'evaluate'> {
  try {
    const { valid, error, type } = environment.check(expression);
    if (!valid) throw error ?? new Error('its types do not fit');
    if (type !== 'bool' && type !== 'dyn') throw new Error(`a rule must be a bool, this is a ${type}`);
    const evaluate = environment.parse(expression);
    useRe2(evaluate.ast);
    return {
      evaluate,
      comparesWithPrevious: /\boldSelf\b/.test(expression),
    };
  } catch (cause) {
    const message = `compile the '${expression}' rule: ${summaryOf(cause)}`;
    throw new OperatorError('VALUES_INVALID', message, { cause });
  }
}

/** Problems of a value and of all values inside it. */
function problemsIn(level: Level, place: Place, context: RuleContext): readonly string[] {
  const { value, previous, pointer } = place;
  if (Array.isArray(value)) {
    const { items } = level;
    if (items === undefined) return [];
    // Items of lists have no names by which the former ones could be found.
    return value.flatMap((item: Json, index) =>
      problemsIn(items, { value: item, previous: undefined, pointer: `${pointer}/${index}` }, context),
    );
  }
  if (!isJsonMap(value)) return [];
  return [
    ...level.rules.flatMap((rule) => problemOf(rule, value, place, context) ?? []),
    ...Object.keys(value).flatMap((name) => {
      const child = level.properties.get(name) ?? level.others;
      if (child === undefined) return [];
      const former = isJsonMap(previous) ? ownValue(previous, name) : undefined;
      const inside = { value: value[name], previous: former, pointer: `${pointer}/${escapeSegment(name)}` };
      return problemsIn(child, inside, context);
    }),
  ];
}

/**
 * The message of a rule that does not hold, or the reason why it cannot be evaluated; undefined otherwise.
 */
function problemOf(
  { expression, message, comparesWithPrevious, evaluate }: Rule,
  value: JsonObject,
  { previous, pointer }: Place,
  { unknown }: RuleContext,
): string | undefined {
  if (comparesWithPrevious && !isJsonMap(previous)) return undefined;
  if (unknown.some((other) => other.startsWith(`${pointer}/`))) return undefined;
  try {
    const result = evaluate({ self: value, oldSelf: previous ?? {} });
    if (typeof result !== 'boolean') return `evaluate the '${expression}' rule: it should return a bool`;
    return result ? undefined : message;
  } catch (error) {
    // A rule about a value that is not there holds.
    if (error instanceof EvaluationError && error.code === 'no_such_key') return undefined;
    return `evaluate the '${expression}' rule: ${failureOf(error)}`;
  }
}

/** Why a rule cannot be evaluated. Messages of the library may quote values, unless they are about types. */
function failureOf(error: unknown): string {
  if (!(error instanceof EvaluationError)) return 'it cannot be evaluated';
  return error.code.endsWith('_overload') ? withOwnNames(error.summary) : error.code.replaceAll('_', ' ');
}

/** Without the picture of the expression that the library adds. */
function summaryOf(error: unknown): string {
  const isOfLibrary =
    error instanceof EvaluationError || error instanceof ParseError || error instanceof CelTypeError;
  return isOfLibrary ? error.summary : messageOf(error);
}

/** A key such as `toString` must not be found on the prototype. */
function ownValue(map: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

const MATCHES = 'matches';
/** The library does not allow its functions to be replaced, so ours has another name. */
const RE2_MATCHES = 'matchesRe2';

/** Adds what {@link useRe2} makes of `matches`. The one of the library needs exponential time for some patterns. */
function registerRe2(environment: Environment): Environment {
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
function useRe2(node: unknown): void {
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
function withOwnNames(message: string): string {
  return message.replaceAll(RE2_MATCHES, MATCHES);
}
