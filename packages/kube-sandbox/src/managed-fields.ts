import { emptyObject } from './empty-values.ts';
import { appliedFields, compareFields, type FieldComparison } from './field-comparison.ts';
import { FieldSet, pathString } from './field-set.ts';
import type { Fields } from './json-access.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';
import { MergeType } from './merge-type.ts';
import { type ManagedFieldsEntry, type ResourceObject, withMeta } from './resource-object.ts';
import { StatusError } from './status-error.ts';

/** One entry of managed fields, its set decoded. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly fields: FieldSet;
}

/** Who writes, by what and when. */
export interface FieldWriter {
  readonly manager: string;
  readonly subresource: string;
  readonly time: string;
}

/** Fields that the server owns. */
const UNOWNED = FieldSet.parse({
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
  },
});

/**
 * `next` with the managed fields that follow from an update by `writer`: it takes the fields that it changed, every manager
 * loses those that changed or went. `current` is undefined for a new object. An object whose managed fields were
 * emptied stays without them until something is applied to it.
 */
export function recordUpdate(
  current: ResourceObject | undefined,
  next: ResourceObject,
  kind: ServedKind,
  writer: FieldWriter,
): ResourceObject {
  const former = decodeManagers(next);
  if (current !== undefined && former.length === 0) return withManagers(next, []);
  const known = ofGroup(former, kind);
  const comparison = compareFields(current ?? emptyObject(kind), next, MergeType.ofKind(kind));
  const taken = comparison.added.union(comparison.modified).difference(UNOWNED);
  const managers = withoutChanged(known, comparison);
  const operation = 'Update';
  const self = { ...writer, operation, apiVersion: apiVersionOf(kind), fields: taken } as const;
  return withManagers(next, taken.isEmpty ? managers : mergeManager(managers, self));
}

/**
 * The managers that wrote through the group of `kind`. As in the API server, a write through one group of Events forgets those
 * of the other.
 */
function ofGroup(managers: readonly FieldManager[], kind: ServedKind): readonly FieldManager[] {
  return managers.filter(({ apiVersion }) => groupOf(apiVersion) === kind.group);
}

function groupOf(apiVersion: string): string {
  return apiVersion.split('/').at(-2) ?? '';
}

/** Managers without the fields that a change took from them or removed; those left with nothing are dropped. */
function withoutChanged(
  managers: readonly FieldManager[],
  comparison: FieldComparison,
): readonly FieldManager[] {
  const lost = comparison.added.union(comparison.modified).union(comparison.removed);
  return managers
    .map((manager) => ({ ...manager, fields: manager.fields.difference(lost) }))
    .filter(({ fields }) => !fields.isEmpty);
}

function mergeManager(managers: readonly FieldManager[], added: FieldManager): readonly FieldManager[] {
  const known = managers.find((manager) => isSameManager(manager, added));
  const others = managers.filter((manager) => manager !== known);
  return [...others, known === undefined ? added : { ...added, fields: known.fields.union(added.fields) }];
}

function isSameManager(left: FieldManager, right: FieldManager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource &&
    (left.operation === 'Apply' || left.apiVersion === right.apiVersion)
  );
}

/** The managers that an object names. */
export function decodeManagers(object: ResourceObject): readonly FieldManager[] {
  return (object.metadata.managedFields ?? [])
    .map((entry) => ({
      manager: entry.manager,
      operation: entry.operation,
      apiVersion: entry.apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time ?? '',
      fields: FieldSet.parse(entry.fieldsV1),
    }))
    .filter(({ fields }) => !fields.isEmpty);
}

/** `object` with these managers: appliers first, then by time. */
export function withManagers(object: ResourceObject, managers: readonly FieldManager[]): ResourceObject {
  const entries = managers
    .filter(({ fields }) => !fields.isEmpty)
    .toSorted(compareManagers)
    .map(encodeManager);
  return withMeta(object, { managedFields: entries.length === 0 ? undefined : entries });
}

function compareManagers(left: FieldManager, right: FieldManager): number {
  const keys = (manager: FieldManager): readonly string[] => [
    manager.operation,
    manager.time,
    manager.manager,
    manager.apiVersion,
    manager.subresource,
  ];
  const rightKeys = keys(right);
  for (const [index, key] of keys(left).entries()) {
    const other = rightKeys[index] ?? '';
    if (key !== other) return key < other ? -1 : 1;
  }
  return 0;
}

function encodeManager(manager: FieldManager): ManagedFieldsEntry {
  return {
    manager: manager.manager,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time === '' ? {} : { time: manager.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: manager.fields.toFieldsV1(),
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  };
}

export interface AppliedManagers {
  /** All managers after the apply. */
  readonly managers: readonly FieldManager[];
  /** Fields that this manager applied last time. */
  readonly formerFields: FieldSet;
}

/**
 * The managers with what `writer` applies now in the place of what it applied before. Its time stays: that is the time of
 * the last change that an apply made, which is not known yet.
 */
export function replaceApplied(
  managers: readonly FieldManager[],
  configuration: Fields,
  kind: ServedKind,
  writer: FieldWriter,
): AppliedManagers {
  const fields = appliedFields(configuration, MergeType.ofKind(kind)).difference(UNOWNED);
  const self = { ...writer, operation: 'Apply', apiVersion: apiVersionOf(kind), fields } as const;
  const former = managers.find((manager) => isSameManager(manager, self));
  const [known] = ofGroup(former === undefined ? [] : [former], kind);
  const formerFields = known?.fields ?? FieldSet.empty;
  const others = ofGroup(managers, kind).filter((manager) => manager !== former);
  return { managers: [...others, { ...self, time: former?.time ?? '' }], formerFields };
}

/**
 * Settles what an apply by `writer` takes from others.
 *
 * @param allowed fields that may be taken without force; undefined: all, the apply is forced
 * @throws StatusError 409 when others own changed fields that may not be taken
 */
export function settleConflicts(
  managers: readonly FieldManager[],
  comparison: FieldComparison,
  writer: FieldWriter,
  allowed: FieldSet | undefined,
): readonly FieldManager[] {
  const isSelf = (manager: FieldManager): boolean =>
    manager.operation === 'Apply' &&
    manager.manager === writer.manager &&
    manager.subresource === writer.subresource;
  const changed = comparison.added.union(comparison.modified);
  const refused = allowed === undefined ? FieldSet.empty : changed.difference(allowed);
  const conflicts = managers
    .filter((manager) => !isSelf(manager))
    .map((manager) => ({ ...manager, fields: manager.fields.intersection(refused) }))
    .filter(({ fields }) => !fields.isEmpty);
  if (conflicts.length > 0) throw conflictError(conflicts);
  const others = withoutChanged(
    managers.filter((manager) => !isSelf(manager)),
    comparison,
  );
  return [...others, ...managers.filter(isSelf)];
}

function conflictError(conflicts: readonly FieldManager[]): StatusError {
  const causes = conflicts.flatMap((manager) =>
    [...manager.fields.paths].map((path) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${managerTitle(manager)}`,
      field: pathString(path),
    })),
  );
  const message = `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${conflictList(conflicts)}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function managerTitle({ manager, subresource, operation, apiVersion }: FieldManager): string {
  const named =
    JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${named} using ${apiVersion}` : named;
}

function conflictList(conflicts: readonly FieldManager[]): string {
  return conflicts
    .map((manager) => {
      const paths = [...manager.fields.paths].map(pathString).toSorted();
      if (paths.length === 1) return `conflict with ${managerTitle(manager)}: ${paths[0]}`;
      return `conflicts with ${managerTitle(manager)}:\n${paths.map((path) => `- ${path}`).join('\n')}`;
    })
    .join('\n');
}
