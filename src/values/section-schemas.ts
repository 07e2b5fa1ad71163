/**
 * Builds the schemas of one section from `openapi/config-values.yaml` and `openapi/values.yaml`. The values schema
 * extends the config schema, and the helm schema is the values schema with its fields for helm required. Modules are
 * loaded with it (`modules/`), and `values-store.ts` validates with the result.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import type { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import type { RuleParser } from '@addon-operator/value-schemas/schema-rules';
import {
  closeObjects,
  expandReferences,
  extendSchema,
  requiredForHelm,
} from '@addon-operator/value-schemas/transform-schema';
import { ValuesSchema } from '@addon-operator/value-schemas/values-schema';
import { parseYaml } from '@addon-operator/yaml';

/** The schemas of one section of values. Where there is none, nothing is checked and there are no defaults. */
export interface SectionSchemas {
  /** Of the ConfigMap; its defaults have lower precedence than the ConfigMap. */
  readonly config?: ValuesSchema;
  /** Of the merged values, checked after a patch; its defaults have higher precedence than the ConfigMap. */
  readonly values?: ValuesSchema;
  /** Of the merged values, checked before helm. */
  readonly helm?: ValuesSchema;
}

/** A schema file. */
export interface SchemaText {
  readonly path: string;
  readonly text: string;
}

/** The functions that schemas are compiled with. */
interface SchemaTools {
  readonly check: SchemaCheck;
  /** Left out where no schema has rules. */
  readonly parseRules?: RuleParser | undefined;
}

/**
 * Reads the schemas of a section. A text without content is as good as none.
 *
 * @throws OperatorError VALUES_INVALID naming file and reason for a text that is no schema
 */
export function parseSectionSchemas(
  config: SchemaText | undefined,
  values: SchemaText | undefined,
  tools: SchemaTools,
): SectionSchemas {
  const rawConfig = load('config', config);
  const rawValues = load('values', values);
  const schemas: { config?: ValuesSchema; values?: ValuesSchema; helm?: ValuesSchema } = {};
  if (rawConfig !== undefined) schemas.config = build('config', config, closeObjects(rawConfig), tools);
  if (rawValues !== undefined) {
    const closed = closeObjects(extendSchema(rawValues, rawConfig));
    schemas.values = build('values', values, closed, tools);
    schemas.helm = build('values', values, requiredForHelm(closed), tools);
  }
  return schemas;
}

type SchemaType = 'config' | 'values';

function load(type: SchemaType, file: SchemaText | undefined): JsonObject | undefined {
  if (file === undefined) return undefined;
  return inFile(type, file, () => {
    const { value } = parseYaml(file.text, {
      source: file.path,
      booleans: 'yaml-1.1',
    });
    if (value === null) return undefined;
    return expandReferences(asMap(value));
  });
}

function build(
  type: SchemaType,
  file: SchemaText | undefined,
  schema: JsonObject,
  { check, parseRules }: SchemaTools,
): ValuesSchema {
  return inFile(type, file, () => ValuesSchema.parse(schema, check, parseRules));
}

function inFile<T>(type: SchemaType, file: SchemaText | undefined, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const problem = messageOf(cause);
    const path = file?.path ?? '';
    const where = problem.startsWith(`${path}:`) ? '' : `${path}: `;
    throw new OperatorError('VALUES_INVALID', `load '${type}' schema: ${where}${problem}`, { cause });
  }
}

function asMap(value: Json): JsonObject {
  if (isJsonMap(value)) return value;
  throw new OperatorError('VALUES_INVALID', 'a map is expected at the top level');
}
