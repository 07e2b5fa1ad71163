import type { Schema } from './config-schema-parts.ts';
import type { ConfigVersion, HookScope } from './hook-config.ts';
import { HOOK_CONFIG_SCHEMAS } from './hook-config-schemas.ts';

/** The schema that checks `--config` output, as editors take it: JSON schema, draft 7. */
export function publishedSchema(version: ConfigVersion, scope: HookScope): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Configuration of a ${scope} hook, ${version}`,
    ...HOOK_CONFIG_SCHEMAS[version](scope),
  };
}
