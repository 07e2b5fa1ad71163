import { canonicalJson, isObject, parseJson } from '@addon-operator/json';
import { appliedFields, compareFields } from './field-comparison.ts';
import { FieldSet } from './field-set.ts';
import type { Fields } from './json-access.ts';
import type { MergeType } from './merge-type.ts';
import type { ResourceObject } from './resource-object.ts';

/** Where kubectl keeps what it applied from the client's side. */
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** The one manager that takes over from client-side apply without being forced to. */
const KUBECTL = 'kubectl';

/** Fields that kubectl may take over from its own earlier client-side apply: those that still are as it left them. */
export function takeoverFields(current: ResourceObject, manager: string, type: MergeType): FieldSet {
  const configuration = manager === KUBECTL ? lastApplied(current) : undefined;
  if (configuration === undefined) return FieldSet.empty;
  const { added, modified, removed } = compareFields(configuration, current, type);
  return appliedFields(configuration, type).difference(modified).difference(added).difference(removed);
}

function lastApplied(object: ResourceObject): Fields | undefined {
  const text = object.metadata.annotations?.[ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const configuration = parseJson(text);
    return isObject(configuration) ? configuration : undefined;
  } catch {
    return undefined;
  }
}

/** `object` with the annotation, if it has it, brought up to what kubectl applied now. */
export function withLastApplied(
  object: ResourceObject,
  configuration: Fields,
  manager: string,
): ResourceObject {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || annotations?.[ANNOTATION] === undefined) return object;
  const updated = { ...annotations, [ANNOTATION]: `${canonicalJson(configuration)}\n` };
  return { ...object, metadata: { ...object.metadata, annotations: updated } };
}
