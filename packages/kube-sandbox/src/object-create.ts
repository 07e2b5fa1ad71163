import { type ApiState, timestamp, type WriteOptions } from './api-state.ts';
import { prepareDefinition } from './custom-resources.ts';
import { applySchemaDefaults } from './custom-values.ts';
import { applyDefaults } from './defaults.ts';
import { withInitialStatus } from './empty-values.ts';
import { isEvent } from './event-versions.ts';
import { type Fields, fieldsAt, withoutFields } from './json-access.ts';
import { isNamespace, type ServedKind, storageOf } from './kinds.ts';
import { recordUpdate } from './managed-fields.ts';
import { dropEmptyFields } from './object-body.ts';
import { objectKey, type ResourceObject, withMeta } from './resource-object.ts';
import { assignAddresses } from './service-addresses.ts';
import {
  alreadyExists,
  badRequest,
  forbidden,
  invalid,
  notFound,
  type StatusCause,
  StatusError,
} from './status-error.ts';
import { withJobSelector } from './validation/validate-batch.ts';
import { objectProblems } from './validation/validate-object.ts';

/** Built-in kinds whose spec changes are counted in metadata.generation; custom resources always are. */
const KINDS_WITH_GENERATION = new Set([
  'CronJob',
  'CustomResourceDefinition',
  'DaemonSet',
  'Deployment',
  'EndpointSlice',
  'Ingress',
  'IngressClass',
  'Job',
  'MutatingWebhookConfiguration',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'PodTemplate',
  'PriorityClass',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

export function hasGeneration(kind: ServedKind): boolean {
  return kind.isCustom || KINDS_WITH_GENERATION.has(kind.kind);
}

/** How an object comes to be written: the same for a create and for an apply that creates. */
export interface CreateRequest {
  readonly kind: ServedKind;
  /** Namespace of the URL; undefined for kinds without. */
  readonly namespace: string | undefined;
  readonly draft: ResourceObject;
}

/**
 * Creates an object from a decoded draft: metadata of the server, defaults, checks, fields that the server decides, managed
 * fields, commit (unless it is a dry run). Handlers call it for clients, controllers for what a cluster has by itself.
 *
 * @throws StatusError
 */
export function createObject(state: ApiState, request: CreateRequest, options: WriteOptions): ResourceObject {
  const { object, defaulted } = prepareObject(state, request);
  const { managedFields } = recordUpdate(undefined, defaulted, request.kind, writer(state, options)).metadata;
  return commitNew(state, request.kind, withMeta(object, { managedFields }), options);
}

export interface PreparedObject {
  /** The object as it would be stored, without managed fields. */
  readonly object: ResourceObject;
  /** The same before the server set the fields that only it may set: these fields belong to the writer. */
  readonly defaulted: ResourceObject;
}

/** Checks and completes a new object without committing it. */
export function prepareObject(state: ApiState, { kind, namespace, draft }: CreateRequest): PreparedObject {
  if ((draft.metadata.resourceVersion ?? '') !== '')
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  checkNamespace(kind, namespace, draft);
  if (kind.isNamespaced) requireActiveNamespace(state, kind, namespace ?? '', draft.metadata.name);
  const { name, generateName: base = '' } = draft.metadata;
  const named = name === '' && base !== '' ? generateName(base, state.random) : name;
  const withoutStatus = kind.hasStatus && !keepsStatus(kind) ? removeStatus(draft) : draft;
  const object = withMeta(
    { ...withoutStatus, metadata: { ...draft.metadata, name: named } },
    {
      namespace: kind.isNamespaced ? namespace : undefined,
      uid: state.newUid(),
      resourceVersion: undefined,
      generation: hasGeneration(kind) ? 1 : undefined,
      creationTimestamp: timestamp(state.clock),
      deletionTimestamp: undefined,
      deletionGracePeriodSeconds: undefined,
      managedFields: undefined,
    },
  );
  const defaulted = defaultObject(kind, object);
  const completed = isJob(kind) ? withJobSelector(defaulted) : defaulted;
  const causes = objectProblems(kind, completed, false);
  if (causes.length > 0) throw invalidObject(kind, object.metadata.name, causes);
  const owned = kind.hasStatus ? removeStatus(defaulted) : defaulted;
  return { object: decideFields(state, kind, completed, undefined), defaulted: owned };
}

export function invalidObject(kind: ServedKind, name: string, causes: readonly StatusCause[]): StatusError {
  // Messages name the group of the API server's internal type.
  return invalid({ group: isEvent(kind) ? '' : kind.group, kind: kind.kind, name }, causes);
}

function isJob(kind: ServedKind): boolean {
  return kind.group === 'batch' && kind.kind === 'Job';
}

/** Fills in the fields that have defaults, and drops empty ones. */
export function defaultObject(kind: ServedKind, object: ResourceObject): ResourceObject {
  return kind.isCustom
    ? applySchemaDefaults(object, kind.schema)
    : applyDefaults(dropEmptyFields(object), kind);
}

/** Fills in what the server alone decides; `current` is the stored state on an update. */
export function decideFields(
  state: ApiState,
  kind: ServedKind,
  object: ResourceObject,
  current: ResourceObject | undefined,
): ResourceObject {
  const initial = current === undefined ? withInitialStatus(kind, object) : object;
  if (storageOf(kind) === '/services') return assignAddresses(state.store, initial, current);
  if (isNamespace(kind)) return { ...initial, ...namespaceFields(initial) };
  if (kind.kind === 'CustomResourceDefinition') return prepareDefinition(initial, timestamp(state.clock));
  return initial;
}

function namespaceFields(namespace: ResourceObject): Fields {
  const spec = { finalizers: ['kubernetes'], ...fieldsAt(namespace, 'spec') };
  return { spec, status: { phase: 'Active', ...fieldsAt(namespace, 'status') } };
}

/** Who writes when, for the managed fields. */
export function writer(
  state: ApiState,
  options: WriteOptions,
  subresource = '',
): { readonly manager: string; readonly time: string; readonly subresource: string } {
  return { manager: options.manager, time: timestamp(state.clock), subresource };
}

/** Commits an object that must not exist yet. */
export function commitNew(
  state: ApiState,
  kind: ServedKind,
  object: ResourceObject,
  options: WriteOptions,
): ResourceObject {
  const storage = storageOf(kind);
  const key = objectKey(object.metadata.namespace, object.metadata.name);
  if (state.store.get(storage, key) !== undefined) throw alreadyExists(kind, object.metadata.name);
  return options.isDryRun ? object : state.store.write(storage, key, object);
}

/** Whether a create keeps the status that it sends: a kubelet registers its node with capacity and addresses. */
function keepsStatus(kind: ServedKind): boolean {
  return !kind.isCustom && kind.kind === 'Node';
}

function removeStatus(object: ResourceObject): ResourceObject {
  const { kind, apiVersion, metadata } = object;
  return { ...withoutFields(object, 'status'), kind, apiVersion, metadata };
}

/** @throws StatusError 400 when body and URL name different namespaces */
export function checkNamespace(kind: ServedKind, namespace: string | undefined, draft: ResourceObject): void {
  const named = draft.metadata.namespace ?? '';
  if (named === '' || !kind.isNamespaced || named === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function requireActiveNamespace(state: ApiState, kind: ServedKind, namespace: string, name: string): void {
  const found = state.store.get('/namespaces', objectKey(undefined, namespace));
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(kind, name, why, {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  });
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_GENERATED_BASE = 58;

/** A name made of `base` and five random letters. */
export function generateName(base: string, random: () => number): string {
  let suffix = '';
  for (let count = 0; count < 5; count += 1) {
    suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? '';
  }
  return `${base.slice(0, MAX_GENERATED_BASE)}${suffix}`;
}
