import type { JsonObject } from '@addon-operator/json';

/** The key of a schema with rules for its values. */
export const RULES_KEY = 'x-deckhouse-validations';

/** Further input of the rules for a section. */
export interface RuleContext {
  /** The section as it was before; undefined when there was none. Rules that compare with it are skipped then. */
  readonly previous?: JsonObject | undefined;
  /** Pointers to values that are not known yet: rules that may read one are skipped. */
  readonly unknown: readonly string[];
}

/** The rules of a whole schema. */
export interface SchemaRules {
  /** The message of each rule that does not hold, and why a rule cannot be judged; each text once. */
  problems(value: JsonObject, context: RuleContext): readonly string[];
}

/**
 * Finds the rules of a schema; undefined when it has none.
 *
 * @throws OperatorError VALUES_INVALID for rules that cannot be used
 */
export type RuleParser = (schema: JsonObject) => SchemaRules | undefined;
