import { canonicalJson, isObject, parseJson } from '@addon-operator/json';
import { type ApiState, timestamp, type WriteOptions } from './api-state.ts';
import { mergeApplied, pruneUnowned } from './apply-merge.ts';
import { appliedFields, compareFields } from './field-comparison.ts';
import { FieldSet } from './field-set.ts';
import { equalJson, type Fields, valueAt, withoutFields } from './json-access.ts';
import { type ServedKind, storageOf } from './kinds.ts';
import {
  decodeManagers,
  type FieldManager,
  type FieldWriter,
  recordUpdate,
  replaceApplied,
  settleConflicts,
  withManagers,
} from './managed-fields.ts';
import { MergeType } from './merge-type.ts';
import { toResourceObject } from './object-body.ts';
import { commitNew, prepareObject } from './object-create.ts';
import { commitChange, nextObject } from './object-update.ts';
import { inVersion } from './representation.ts';
import { objectKey, type ResourceObject, withMeta } from './resource-object.ts';
import { badRequest, notFound } from './status-error.ts';

export interface ApplyRequest {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
  /** The applied configuration. */
  readonly applied: Fields;
  readonly isForced: boolean;
}

/**
 * Applies a configuration on behalf of a manager: creates the object, or merges into it what the configuration says and
 * removes what the manager applied before and no manager owns now.
 *
 * @throws StatusError 409 when others own fields that would change
 */
export function applyObject(
  state: ApiState,
  request: ApplyRequest,
  options: WriteOptions,
): { readonly object: ResourceObject; readonly isCreated: boolean } {
  const { kind, namespace, name, subresource } = request;
  const draft = toConfiguration(request);
  const configuration = ownedPart(request, draft);
  const writer: FieldWriter = { manager: options.manager, subresource, time: timestamp(state.clock) };
  const stored = state.store.get(storageOf(kind), objectKey(namespace, name));
  if (stored === undefined) {
    if (subresource !== '') throw notFound(kind, name);
    const { object } = prepareObject(state, { kind, namespace, draft });
    const managers = replaceApplied([], configuration, kind, writer).managers;
    const dated = managers.map((manager) => ({ ...manager, time: writer.time }));
    return { object: commitNew(state, kind, withManagers(object, dated), options), isCreated: true };
  }
  const current = inVersion(stored, kind);
  const object = mergeInto(state, request, { current, configuration, writer }, options);
  return { object, isCreated: false };
}

function toConfiguration({ kind, name, applied }: ApplyRequest): ResourceObject {
  if (valueAt(applied, 'metadata', 'managedFields') !== undefined)
    throw badRequest('metadata.managedFields must be nil');
  if (valueAt(applied, 'apiVersion') === undefined || valueAt(applied, 'kind') === undefined)
    throw badRequest('invalid object type: apiVersion and kind must be set');
  const configuration = toResourceObject(withoutNulls(applied), kind);
  const named = configuration.metadata.name;
  if (named !== '' && named !== name)
    throw badRequest(`the name of the object (${named}) does not match the name on the URL (${name})`);
  return { ...configuration, metadata: { ...configuration.metadata, name } };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** The part of a configuration that this URL may change: the status, or everything else. */
function ownedPart({ kind, subresource }: ApplyRequest, configuration: ResourceObject): ResourceObject {
  const { kind: kindName, apiVersion, metadata } = configuration;
  const identity = { kind: kindName, apiVersion, metadata };
  if (subresource === 'status') {
    const unreachable = { labels: undefined, annotations: undefined, finalizers: undefined };
    return withMeta({ ...identity, status: configuration['status'] }, unreachable);
  }
  if (!kind.hasStatus) return configuration;
  return { ...withoutFields(configuration, 'status'), ...identity };
}

interface Merge {
  readonly current: ResourceObject;
  readonly configuration: ResourceObject;
  readonly writer: FieldWriter;
}

function mergeInto(
  state: ApiState,
  { kind, subresource, isForced, applied }: ApplyRequest,
  { current, configuration, writer }: Merge,
  options: WriteOptions,
): ResourceObject {
  const type = MergeType.ofKind(kind);
  const { managers, formerFields } = replaceApplied(
    knownManagers(current, kind),
    configuration,
    kind,
    writer,
  );
  const merged = mergeApplied(current, configuration, type);
  const owned = managers.reduce((all, { fields }) => all.union(fields), FieldSet.empty);
  const pruned = pruneUnowned(merged, type, { former: formerFields, owned });
  const allowed = isForced ? undefined : takeoverFields(current, writer.manager, type);
  const settled = settleConflicts(managers, compareFields(current, pruned, type), writer, allowed);
  const dated = equalJson(current, pruned) ? settled : settled.map((manager) => datedNow(manager, writer));
  const annotated = withLastApplied(toResourceObject(pruned, kind), applied, writer.manager);
  const changed = nextObject(state, { kind, current, draft: withManagers(annotated, dated), subresource });
  // Updates of a subresource keep managed fields; an apply there has an owner all the same.
  const next = subresource === '' ? changed : withManagers(changed, dated);
  const isSame = equalJson(withoutTimes(current), withoutTimes(next));
  return isSame ? current : commitChange(state, { kind, current, next }, options);
}

/** The managers of an object; one without any has no known writer. */
function knownManagers(current: ResourceObject, kind: ServedKind): readonly FieldManager[] {
  const managers = decodeManagers(current);
  if (managers.length > 0) return managers;
  const time = current.metadata.creationTimestamp ?? '';
  const writer = { manager: 'before-first-apply', subresource: '', time };
  return decodeManagers(recordUpdate(undefined, current, kind, writer));
}

/** An apply that changes the object is dated; one that changes owners only is not. */
function datedNow(manager: FieldManager, { time, ...writer }: FieldWriter): FieldManager {
  const isWriter =
    manager.operation === 'Apply' &&
    manager.manager === writer.manager &&
    manager.subresource === writer.subresource;
  return isWriter ? { ...manager, time } : manager;
}

function withoutTimes(object: ResourceObject): ResourceObject {
  return withManagers(
    object,
    decodeManagers(object).map((manager) => ({ ...manager, time: '' })),
  );
}

/** Where kubectl keeps what it applied from the client's side. */
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** The one manager that takes over from client-side apply without being forced to. */
const KUBECTL = 'kubectl';

/** Fields that kubectl may take over from its own earlier client-side apply: those that still are as it left them. */
function takeoverFields(current: ResourceObject, manager: string, type: MergeType): FieldSet {
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
function withLastApplied(object: ResourceObject, configuration: Fields, manager: string): ResourceObject {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || annotations?.[ANNOTATION] === undefined) return object;
  const updated = { ...annotations, [ANNOTATION]: `${canonicalJson(configuration)}\n` };
  return { ...object, metadata: { ...object.metadata, annotations: updated } };
}
