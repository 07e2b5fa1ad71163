import type { ValidateFunction } from 'ajv';
import type { Schema } from './config-schema-parts.ts';
import type { ConfigVersion, HookScope } from './hook-config.ts';
import { hookConfigAjv } from './hook-config-ajv.ts';
import { hookConfigSchema } from './hook-config-schema.ts';
import { hookConfigSchemaV0 } from './hook-config-schema-v0.ts';

/** What makes the schema of a configuration in each format. */
export const HOOK_CONFIG_SCHEMAS: Readonly<Record<ConfigVersion, (scope: HookScope) => Schema>> = {
  v0: hookConfigSchemaV0,
  v1: hookConfigSchema,
};

/**
 * The compiled schemas of what hooks say about themselves. To compile one and to use it for the first time take some
 * 10 ms each: that of most hooks is ready from the beginning, the others when a hook needs them.
 */
export class HookConfigSchemas {
  readonly #ajv = hookConfigAjv();
  readonly #validators: Readonly<Record<ConfigVersion, Partial<Record<HookScope, ValidateFunction>>>> = {
    v0: {},
    v1: {},
  };

  constructor() {
    this.validator('v1', 'module')({});
  }

  validator(version: ConfigVersion, scope: HookScope): ValidateFunction {
    return (this.#validators[version][scope] ??= this.#ajv.compile(HOOK_CONFIG_SCHEMAS[version](scope)));
  }
}
