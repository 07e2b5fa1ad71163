import type { Schema } from './config-schema-parts.ts';
import type { ConfigVersion, HookScope } from './hook-config.ts';
import { hookConfigSchema } from './hook-config-schema.ts';
import { hookConfigSchemaV0 } from './hook-config-schema-v0.ts';

const SCHEMAS: Readonly<Record<ConfigVersion, (scope: HookScope) => Schema>> = {
  v0: hookConfigSchemaV0,
  v1: hookConfigSchema,
};

/** The schema that checks `--config` output, as editors take it: JSON schema, draft 7. */
export function publishedSchema(version: ConfigVersion, scope: HookScope): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Configuration of a ${scope} hook, ${version}`,
    ...SCHEMAS[version](scope),
  };
}
