import { resolvedSchema, schemaOfKind } from './built-in-types.ts';
import { EMPTY_CORE_EVENT, EMPTY_EVENT, isEvent } from './event-versions.ts';
import { equalJson, type Fields, fieldsAt, listAt } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

const ZEROS: readonly unknown[] = [{}, '', 0, false];

/** The fields that an empty struct of the API server has in JSON: those that are never left out. */
function emptyFields(schema: Fields): Fields {
  const { properties, required } = resolvedSchema(schema);
  const empty: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(fieldsAt(properties))) {
    const zero = fieldsAt(property)['default'];
    if (ZEROS.some((each) => equalJson(each, zero)))
      empty[field] = typeof zero === 'object' ? emptyFields(fieldsAt(property)) : zero;
    else if (fieldsAt(property)['type'] === 'array' && listAt(required).includes(field)) empty[field] = [];
  }
  return empty;
}

/** A new object of a kind before anything is written into it: filling what it has makes no manager the owner of that. */
export function emptyObject(kind: ServedKind): Fields {
  if (kind.isCustom) return { metadata: {} };
  const empty = emptyFields(schemaOfKind(kind));
  return isEvent(kind) ? { ...empty, ...(kind.group === '' ? EMPTY_CORE_EVENT : EMPTY_EVENT) } : empty;
}

/** Fields of the status of a new object beyond those that are never left out. */
const INITIAL: Readonly<Record<string, Fields>> = {
  HorizontalPodAutoscaler: { currentMetrics: null },
  PersistentVolume: { phase: 'Pending' },
  PersistentVolumeClaim: { phase: 'Pending' },
  Pod: { phase: 'Pending' },
};

/** A new built-in object with the status that it has before any controller has seen it. */
export function withInitialStatus(kind: ServedKind, object: ResourceObject): ResourceObject {
  if (kind.isCustom || !kind.hasStatus || object['status'] !== undefined) return object;
  const empty = emptyFields(fieldsAt(schemaOfKind(kind), 'properties', 'status'));
  return { ...object, status: { ...empty, ...INITIAL[kind.kind] } };
}
