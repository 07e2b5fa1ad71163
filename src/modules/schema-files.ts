import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import { isMissingFile } from '../lib/missing-file.ts';
import type { SchemaCheck } from '../values/schemas/schema-check.ts';
import { RULES_KEY } from '../values/schemas/schema-rules.ts';
import {
  parseSectionSchemas,
  type SchemaText,
  type SectionSchemas,
} from '../values/schemas/section-schemas.ts';

/**
 * Reads the schemas in `openapi/` below a directory: of a module, or of the global hooks for the section `global`.
 *
 * @throws OperatorError VALUES_INVALID for a file that is no schema, or that cannot be read
 */
export async function readSchemas(directory: string, check: SchemaCheck): Promise<SectionSchemas> {
  const [config, values] = await Promise.all([
    readSchema(join(directory, 'openapi', 'config-values.yaml')),
    readSchema(join(directory, 'openapi', 'values.yaml')),
  ]);
  const hasRules = [config, values].some((file) => file?.text.includes(RULES_KEY));
  // Rules are rare, and what understands them takes time to load.
  const rules = hasRules ? await import('../values/schemas/cel-rules.ts') : undefined;
  return parseSectionSchemas(config, values, { check, parseRules: rules?.parseCelRules });
}

async function readSchema(path: string): Promise<SchemaText | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new OperatorError('VALUES_INVALID', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}
