import { Ajv } from 'ajv';
import { OperatorError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import { schemaPattern } from './schema-pattern.ts';

/** Tells whether a document is a JSON schema. One is made for many documents: its own preparation costs most. */
export class SchemaCheck {
  #ajv: Ajv | undefined;

  /** @throws OperatorError VALUES_INVALID listing everything by which it is no schema */
  assertSchema(schema: JsonObject): void {
    this.#ajv ??= new Ajv({ allErrors: true, strict: false, logger: false });
    if (this.#ajv.validateSchema(schema) !== true) {
      const reason = this.#ajv.errorsText(this.#ajv.errors, { dataVar: 'schema', separator: '\n' });
      throw new OperatorError('VALUES_INVALID', reason);
    }
    checkPatterns(schema);
  }
}

function checkPatterns(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'enum') continue;
    if (key === 'pattern' && typeof value === 'string') checkPattern(value);
    if (key === 'patternProperties') for (const pattern of Object.keys(Object(value))) checkPattern(pattern);
    checkPatterns(value);
  }
}

function checkPattern(pattern: string): void {
  try {
    schemaPattern(pattern);
  } catch (cause) {
    throw new OperatorError('VALUES_INVALID', `pattern '${pattern}' is no regular expression`, { cause });
  }
}
