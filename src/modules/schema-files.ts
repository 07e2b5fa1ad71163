import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { SchemaCheck } from '../values/schemas/schema-check.ts';
import {
  parseSectionSchemas,
  type SchemaText,
  type SectionSchemas,
} from '../values/schemas/section-schemas.ts';
import { isMissingFile } from './missing-file.ts';

const CEL_RULES = 'x-deckhouse-validations';

/**
 * Reads the schemas in `openapi/` below a directory: of a module, or of the global hooks for the section `global`.
 *
 * @throws OperatorError VALUES_INVALID for a file that is no schema, or that cannot be read
 */
export async function readSchemas(
  directory: string,
  check: SchemaCheck,
  log: Logger,
): Promise<SectionSchemas> {
  const [config, values] = await Promise.all([
    readSchema(join(directory, 'openapi', 'config-values.yaml')),
    readSchema(join(directory, 'openapi', 'values.yaml')),
  ]);
  for (const file of [config, values]) {
    if (file?.text.includes(CEL_RULES))
      log.warn(
        { path: file.path },
        `${CEL_RULES} are not carried out: values are checked without these rules`,
      );
  }
  return parseSectionSchemas(config, values, check);
}

async function readSchema(path: string): Promise<SchemaText | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new OperatorError('VALUES_INVALID', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}
