/**
 * Validators for the schemas, and error messages in words. The build compiles the validators ahead of time
 * (`compiled-validators.ts`); from sources they are compiled at first use. The messages follow the original's, with a
 * suggestion for misspelt keys.
 */

import { isObject } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import { Ajv, type CodeOptions, type ErrorObject, type ValidateFunction } from 'ajv';
import type { HookScope } from './binding-kinds.ts';
import { compiledValidators } from './compiled-validators.ts';
import type { ConfigSchema } from './config-schema-parts.ts';
import type { ConfigVersion } from './hook-config.ts';
import { hookConfigSchema, hookConfigSchemaV0 } from './hook-config-schema.ts';

/** Functions that build the schema of a configuration in each format. */
const HOOK_CONFIG_SCHEMAS: Readonly<Record<ConfigVersion, (scope: HookScope) => ConfigSchema>> = {
  v0: hookConfigSchemaV0,
  v1: hookConfigSchema,
};

/** Those compiled since the program was started, by name: they keep nothing of what they validate but its errors. */
const COMPILED = new Map<string, ValidateFunction>();

/**
 * The validator of hook configurations. Compiling a schema takes some 50 ms, so the build does it; from sources it is done
 * when a hook first needs the schema. Its errors are those of its last call.
 */
export function hookConfigValidator(version: ConfigVersion, scope: HookScope): ValidateFunction {
  const name = validatorName(version, scope);
  const known = compiledValidators?.[name] ?? COMPILED.get(name);
  if (known !== undefined) return known;
  const compiled = hookConfigAjv().compile(HOOK_CONFIG_SCHEMAS[version](scope));
  COMPILED.set(name, compiled);
  return compiled;
}

function validatorName(version: ConfigVersion, scope: HookScope): string {
  return `${version}_${scope}`;
}

/** The schemas by the names that the build gives to their validators, see `compiled-validators.ts`. */
export function schemasToCompile(): ReadonlyMap<string, ConfigSchema> {
  const named = (version: ConfigVersion, scope: HookScope) =>
    [validatorName(version, scope), HOOK_CONFIG_SCHEMAS[version](scope)] as const;
  return new Map([
    named('v0', 'global'),
    named('v0', 'module'),
    named('v1', 'global'),
    named('v1', 'module'),
  ]);
}

/**
 * Compiles the schemas of hook configurations. They are part of the program, so they are not validated at run time.
 *
 * @param code default: not optimized, because at run time that takes longer than all the validations it speeds up
 */
export function hookConfigAjv(code: CodeOptions = { optimize: false }): Ajv {
  return new Ajv({
    allErrors: true,
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    code,
  });
}

/** The schema that checks `--config` output, as editors take it: JSON schema, draft 7. */
export function publishedSchema(version: ConfigVersion, scope: HookScope): ConfigSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Configuration of a ${scope} hook, ${version}`,
    ...HOOK_CONFIG_SCHEMAS[version](scope),
  };
}

/** One schema error in words: the dotted path (list positions left out), the problem, what is allowed. */
export function schemaProblem(error: ErrorObject): string {
  const path = error.instancePath
    .split('/')
    .filter((part) => part !== '' && !/^\d+$/.test(part))
    .join('.');
  // Which parameters there are depends on the keyword.
  const params: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case 'additionalProperties': {
      const property = String(params['additionalProperty']);
      const known = error.parentSchema?.['properties'];
      const keys = isObject(known) ? Object.keys(known) : [];
      const allowed = keys.length === 0 ? '' : `; allowed: ${keys.join(', ')}`;
      return `${path}.${property} is a forbidden property${didYouMean(property, keys)}${allowed}`;
    }
    case 'required':
    case 'dependencies':
      return `${path === '' ? '' : `${path}.`}${String(params['missingProperty'])} is required`;
    case 'type':
      return `${path} must be of type ${typesOf(params['type'])}: "${typeName(error.data)}"`;
    case 'enum':
      return `${path} should be one of [${(error.schema as readonly string[]).join(' ')}]`;
    case 'minItems':
      return `${path} should have at least ${String(params['limit'])} items`;
    case 'minProperties':
      return `${path === '' ? 'config' : path} should have at least ${String(params['limit'])} properties`;
    default:
      return `${path} ${error.message ?? error.keyword}`;
  }
}

/** `string or object` for a schema that accepts several types. */
function typesOf(type: unknown): string {
  return Array.isArray(type) ? type.join(' or ') : String(type);
}

/** The type in the words of JSON. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
