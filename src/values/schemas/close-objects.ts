import type { JsonObject } from '../../lib/json.ts';
import { mapSubSchemas } from './sub-schemas.ts';

const ADDITIONAL = 'additionalProperties';

/**
 * Forbids properties that are not listed, wherever a schema does not say itself whether it allows them: at the root, in
 * its properties and in the items of lists. What stands below a property that does say so is left as it is.
 */
export function closeObjects(schema: JsonObject): JsonObject {
  const closed = Object.hasOwn(schema, ADDITIONAL) ? schema : { ...schema, [ADDITIONAL]: false };
  return mapSubSchemas(closed, (child, keyword) => {
    switch (keyword) {
      case 'properties':
        return Object.hasOwn(child, ADDITIONAL) || isReference(child) ? child : closeObjects(child);
      case 'items':
        return isReference(child) ? child : closeObjects(child);
      case 'patternProperties':
      case 'definitions':
      case 'additionalProperties':
      case 'additionalItems':
      case 'not':
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return child;
    }
  });
}

/** A schema that contains itself: beside the reference nothing counts. */
function isReference(schema: JsonObject): boolean {
  return typeof schema['$ref'] === 'string';
}
