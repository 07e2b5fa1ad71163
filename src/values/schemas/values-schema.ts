import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonObject } from '../../lib/json.ts';
import { applyDefaults } from './apply-defaults.ts';
import { toJsonSchema } from './json-schema.ts';
import { re2Pattern } from './re2-pattern.ts';
import type { SchemaCheck } from './schema-check.ts';
import { SCHEMA_FORMATS } from './schema-formats.ts';
import type { RuleContext, RuleParser, SchemaRules } from './schema-rules.ts';
import { valueProblem } from './value-problem.ts';

/** One schema, ready to check values and to give defaults. */
export class ValuesSchema {
  readonly #schema: JsonObject;
  readonly #draft: JsonObject;
  readonly #rules: SchemaRules | undefined;
  #validate: ValidateFunction | undefined;

  private constructor(schema: JsonObject, draft: JsonObject, rules: SchemaRules | undefined) {
    this.#schema = schema;
    this.#draft = draft;
    this.#rules = rules;
  }

  /**
   * @param parseRules left out: rules in the schema count for nothing
   * @throws OperatorError VALUES_INVALID listing everything by which it is no schema
   */
  static parse(schema: JsonObject, check: SchemaCheck, parseRules?: RuleParser): ValuesSchema {
    const draft = toJsonSchema(schema);
    check.assertSchema(draft);
    return new ValuesSchema(schema, draft, parseRules?.(schema));
  }

  withDefaults(value: JsonObject): JsonObject {
    return applyDefaults(this.#schema, value);
  }

  /**
   * All the ways in which a section breaks the schema; empty when it is valid. The schema is looked at when its rules hold.
   *
   * @param key what paths begin with: the key of the section
   * @param context for values that are not known yet null stands: nothing is said about them
   */
  problems(key: string, value: JsonObject, context: RuleContext = { unknown: [] }): readonly string[] {
    const broken = this.#rules?.problems(value, context) ?? [];
    if (broken.length > 0) return broken;
    // Made when first needed: most modules are never asked.
    this.#validate ??= createAjv().compile(this.#draft);
    if (this.#validate(value)) return [];
    const errors = (this.#validate.errors ?? []).filter(
      // What fails inside `if` is told by itself.
      (error) => error.keyword !== 'if' && !isAboutUnknown(error, context.unknown),
    );
    return [...new Set(errors.map((error) => valueProblem(error, key, value)))];
  }
}

function createAjv(): Ajv {
  // ajv passes flags of JavaScript.
  const regExp = Object.assign((pattern: string) => re2Pattern(pattern), { code: 're2Pattern' });
  return new Ajv({
    allErrors: true,
    meta: false,
    validateSchema: false,
    strict: false,
    verbose: true,
    logger: false,
    ownProperties: true,
    formats: SCHEMA_FORMATS,
    // Without it 0.07 would be no multiple of 0.01.
    multipleOfPrecision: 9,
    // Optimizing a schema takes three times as long as compiling it, and it is run a few times only.
    code: { regExp, optimize: false },
  });
}

/** A combination such as anyOf cannot be judged when a part of what it looks at is not known. */
const COMBINATIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not']);

function isAboutUnknown({ instancePath, keyword }: ErrorObject, unknown: readonly string[]): boolean {
  return unknown.some(
    (pointer) =>
      pointer === instancePath || (COMBINATIONS.has(keyword) && pointer.startsWith(`${instancePath}/`)),
  );
}
