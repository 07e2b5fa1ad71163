import { OperatorError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { parsePointer } from '../../lib/json-pointer.ts';
import { isJsonMap } from '../merge.ts';
import { mapSubSchemas } from './sub-schemas.ts';

const MAX_EXPANSIONS = 1_000;

/**
 * Puts the target of each local `$ref` in its place, so that later steps see what it stands for. A reference inside its
 * own target stays as it is, and so do those in `definitions`.
 *
 * @throws OperatorError VALUES_INVALID for a reference that leads nowhere or out of the file, and for more than 1000
 */
export function expandReferences(schema: JsonObject): JsonObject {
  let expansions = 0;
  const expand = (part: JsonObject, open: readonly string[]): JsonObject => {
    const reference = part['$ref'];
    if (typeof reference !== 'string') {
      return mapSubSchemas(part, (child, keyword) =>
        keyword === 'definitions' ? child : expand(child, open),
      );
    }
    if (open.includes(reference)) return { $ref: reference };
    expansions += 1;
    if (expansions > MAX_EXPANSIONS)
      throw new OperatorError(
        'VALUES_INVALID',
        `more than ${MAX_EXPANSIONS} places refer to a schema with $ref`,
      );
    return expand(targetOf(reference, schema), [...open, reference]);
  };
  return expand(schema, []);
}

function targetOf(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith('#'))
    throw new OperatorError(
      'VALUES_INVALID',
      `$ref "${reference}" points outside of the file: use #/definitions/…`,
    );
  const segments = reference === '#' ? [] : parsePointer(reference.slice(1));
  const childOf = (parent: Json | undefined, segment: string): Json | undefined =>
    isJsonMap(parent) && Object.hasOwn(parent, segment) ? parent[segment] : undefined;
  const target = segments?.reduce<Json | undefined>(childOf, root);
  if (isJsonMap(target)) return target;
  throw new OperatorError('VALUES_INVALID', `$ref "${reference}" does not point to a schema`);
}
