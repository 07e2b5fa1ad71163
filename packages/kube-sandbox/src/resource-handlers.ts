import { fieldsOf, isObject, parseJson } from '@addon-operator/json';
import { negotiate } from './accept.ts';
import { type ApiRequest, type ApiResponse, type BodyResponse, jsonResponse } from './api-request.ts';
import type { ApiState, WriteOptions } from './api-state.ts';
import type { Fields } from './json-access.ts';
import { type ServedKind, storageOf } from './kinds.ts';
import { warningsAbout } from './left-out.ts';
import { recordUpdate } from './managed-fields.ts';
import { applyObject } from './object-apply.ts';
import {
  type DecodedObject,
  decodeBody,
  decodeObject,
  decodeYaml,
  type FieldValidation,
} from './object-body.ts';
import { createObject, writer } from './object-create.ts';
import { type DeleteResult, deleteObject, parseDeleteOptions } from './object-delete.ts';
import { patchFields, patchTypeOf } from './object-patch.ts';
import { updateObject } from './object-update.ts';
import { requireDeclared, requirePatchable } from './patch-types.ts';
import { inVersion, type View, viewObject } from './representation.ts';
import { objectKey, type ResourceObject } from './resource-object.ts';
import { scaleOf, withScale } from './scale.ts';
import { badRequest, invalid, invalidValue, notFound, required, StatusError } from './status-error.ts';

/** One request for a resource, taken apart. */
export interface ResourceRequest {
  readonly request: ApiRequest;
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** Empty for the collection. */
  readonly name: string;
  readonly subresource: string;
}

export function viewOf(state: ApiState, { request, kind }: ResourceRequest): View {
  const { representation } = negotiate(request.accept);
  const includeObject = request.query.get('includeObject') ?? 'Metadata';
  return { kind, representation, includeObject, nowMs: state.clock.wallMs() };
}

function writeOptions(request: ApiRequest): WriteOptions {
  const [product = ''] = request.userAgent.split('/');
  return {
    manager: request.query.get('fieldManager') ?? (product.trim() || 'unknown'),
    isDryRun: isDryRun(request.query),
  };
}

function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All'))
    throw badRequest(`Invalid value for dryRun: ${JSON.stringify(values)}; only "All" is supported`);
  return values.length > 0;
}

function fieldValidation(query: URLSearchParams): FieldValidation {
  const value = query.get('fieldValidation') ?? '';
  if (value === '' || value === 'Warn') return 'Warn';
  if (value === 'Ignore' || value === 'Strict') return value;
  throw badRequest(`fieldValidation: Unsupported value: ${JSON.stringify(value)}`);
}

function currentObject(state: ApiState, { kind, namespace, name }: ResourceRequest): ResourceObject {
  const found = state.store.get(storageOf(kind), objectKey(namespace, name));
  if (found === undefined) throw notFound(kind, name);
  return inVersion(found, kind);
}

/** @param options `warnings` about what was written; absent for an object that is only read */
function objectResponse(
  state: ApiState,
  resource: ResourceRequest,
  object: ResourceObject,
  options: { readonly status?: number; readonly warnings?: readonly string[] } = {},
): BodyResponse {
  const body =
    resource.subresource === 'scale' ? scaleOf(object) : viewObject(object, viewOf(state, resource));
  const { warnings } = options;
  const all = warnings === undefined ? [] : [...warnings, ...warningsAbout(storageOf(resource.kind), object)];
  return jsonResponse(options.status ?? 200, body, { warnings: all });
}

export function handleGet(state: ApiState, resource: ResourceRequest): ApiResponse {
  return objectResponse(state, resource, currentObject(state, resource));
}

export function handleCreate(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace } = resource;
  const body = decodeBody(request.body, request.contentType, kind.kind);
  const { object: draft, warnings } = decodeObject(body, kind, fieldValidation(request.query));
  if (kind.isReview) return reviewResponse(state, resource, draft, warnings);
  const created = createObject(state, { kind, namespace, draft }, writeOptions(request));
  return objectResponse(state, resource, created, { status: 201, warnings });
}

function reviewResponse(
  state: ApiState,
  { request, kind }: ResourceRequest,
  draft: ResourceObject,
  warnings: readonly string[],
): ApiResponse {
  const review = recordUpdate(undefined, draft, kind, writer(state, writeOptions(request)));
  return jsonResponse(201, responseReview(kind, review, state.clock.wallMs()), { warnings });
}

const ALL = ['*'];
const USER = { username: 'sandbox', groups: ['system:masters', 'system:authenticated'] };

const ANSWERS: Readonly<Record<string, Fields>> = {
  LocalSubjectAccessReview: { allowed: true },
  SelfSubjectAccessReview: { allowed: true },
  SubjectAccessReview: { allowed: true },
  SelfSubjectRulesReview: {
    resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
    nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
    incomplete: false,
  },
  SelfSubjectReview: { userInfo: USER },
};

/** The response to a review: every token is valid until it expires, and every user may do everything. */
function responseReview(kind: ServedKind, review: ResourceObject, nowMs: number): Fields {
  const { name: _name, ...metadata } = review.metadata;
  const status = kind.kind === 'TokenReview' ? tokenStatus(review['spec'], nowMs) : ANSWERS[kind.kind];
  return { ...review, metadata, status: status ?? {} };
}

function tokenStatus(spec: unknown, nowMs: number): Fields {
  const { token, audiences = [] } = fieldsOf(spec);
  const isAccepted = typeof token === 'string' && token !== '' && nowMs < expiryOf(token);
  return isAccepted
    ? { authenticated: true, user: USER, audiences }
    : { user: {}, error: 'the token is empty or has expired' };
}

/** The claim `exp` of a JSON web token in milliseconds; any other token is valid for ever. */
function expiryOf(token: string): number {
  try {
    const { exp } = fieldsOf(parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    return typeof exp === 'number' ? exp * 1_000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Kinds that a PUT creates when they do not exist, as some of the real server's do. */
const CREATED_ON_UPDATE = new Set([
  'Endpoints',
  'Event',
  'Lease',
  'LimitRange',
  'Role',
  'RoleBinding',
  'ClusterRole',
  'ClusterRoleBinding',
  'Service',
]);

export function handleUpdate(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace, name, subresource } = resource;
  if (subresource === 'scale') return updateScale(state, resource);
  const body = decodeBody(request.body, request.contentType, kind.kind);
  const { object: draft, warnings } = decodeObject(body, kind, fieldValidation(request.query));
  const isMissing = state.store.get(storageOf(kind), objectKey(namespace, name)) === undefined;
  if (isMissing && subresource === '' && !kind.isCustom && CREATED_ON_UPDATE.has(kind.kind)) {
    if (draft.metadata.name !== name)
      throw badRequest(
        `the name of the object (${draft.metadata.name}) does not match the name on the URL (${name})`,
      );
    const created = createObject(state, { kind, namespace, draft }, writeOptions(request));
    return objectResponse(state, resource, created, { status: 201, warnings });
  }
  const current = currentObject(state, resource);
  if (draft.metadata.name === name) requireVersion(kind, draft);
  const updated = updateObject(state, { kind, current, draft, subresource }, writeOptions(request));
  return objectResponse(state, resource, updated, { warnings });
}

/** Built-in kinds of which, as of custom resources, nothing is replaced without saying which version. */
const CONDITIONAL_UPDATES = new Set([
  'CSIDriver',
  'CSINode',
  'CustomResourceDefinition',
  'Lease',
  'MutatingWebhookConfiguration',
  'PodDisruptionBudget',
  'RuntimeClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
]);

/** @throws StatusError 422 */
function requireVersion(kind: ServedKind, { metadata }: ResourceObject): void {
  if ((metadata.resourceVersion ?? '') !== '') return;
  if (!kind.isCustom && !CONDITIONAL_UPDATES.has(kind.kind)) return;
  const cause = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
  throw invalid({ group: kind.group, kind: kind.plural, name: metadata.name }, [cause]);
}

function updateScale(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, subresource } = resource;
  const { value } = decodeBody(request.body, request.contentType, 'Scale');
  const current = currentObject(state, resource);
  const draft = withScale(current, value);
  const updated = updateObject(state, { kind, current, draft, subresource }, writeOptions(request));
  return objectResponse(state, resource, updated);
}

export function handlePatch(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, subresource } = resource;
  const type = patchTypeOf(request.contentType, kind);
  if (type === 'apply') return applyPatch(state, resource);
  const current = currentObject(state, resource);
  const options = writeOptions(request);
  if (subresource === 'scale') {
    const draft = withScale(current, patchFields(scaleOf(current), type, request.body, kind));
    return objectResponse(
      state,
      resource,
      updateObject(state, { kind, current, draft, subresource }, options),
    );
  }
  const patched = patchFields(current, type, request.body, kind);
  requirePatchable(patched, kind, type, request.body);
  const { object: draft, warnings } = patchedObject(patched, kind, fieldValidation(request.query));
  const updated = updateObject(state, { kind, current, draft, subresource }, options);
  return objectResponse(state, resource, updated, { warnings });
}

/** A patch that makes no object of the kind is invalid, where a body that is none is a bad request. */
function patchedObject(patched: Fields, kind: ServedKind, validation: FieldValidation): DecodedObject {
  try {
    return decodeObject({ value: patched, duplicates: [] }, kind, validation);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    const cause = invalidValue('patch', patched, error.message);
    throw new StatusError(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
  }
}

function applyPatch(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace, name, subresource } = resource;
  const manager = request.query.get('fieldManager') ?? '';
  if (manager === '') {
    const cause = required('fieldManager', 'is required for apply patch');
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [cause]);
  }
  const value = decodeYaml(request.body);
  requireDeclared(value, kind, { namespace, name });
  const { warnings } = decodeObject({ value, duplicates: [] }, kind, fieldValidation(request.query));
  const { object, isCreated } = applyObject(
    state,
    { kind, namespace, name, subresource, applied: value, isForced: request.query.get('force') === 'true' },
    { ...writeOptions(request), manager },
  );
  return objectResponse(state, resource, object, { status: isCreated ? 201 : 200, warnings });
}

export function handleDelete(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind } = resource;
  const options = deleteOptions(request);
  const result = deleteObject(state, kind, currentObject(state, resource), options);
  return jsonResponse(200, deletedBody(state, resource, result));
}

function deleteOptions(request: ApiRequest): ReturnType<typeof parseDeleteOptions> {
  if (request.body.length === 0) return parseDeleteOptions(request.query, undefined);
  return parseDeleteOptions(
    request.query,
    decodeBody(request.body, request.contentType, 'DeleteOptions').value,
  );
}

/** Kinds whose deletion returns the object rather than a Status. */
const RETURNED_KINDS = new Set([
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
  'PodTemplate',
  'ResourceQuota',
  'Service',
  'ServiceAccount',
]);

function deletedBody(state: ApiState, resource: ResourceRequest, { type, object }: DeleteResult): Fields {
  const { kind } = resource;
  if (type === 'terminating' || (kind.group === '' && RETURNED_KINDS.has(kind.kind)))
    return viewObject(object, viewOf(state, resource));
  const { name, uid = '' } = object.metadata;
  const group = kind.group === '' ? {} : { group: kind.group };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: kind.plural, uid },
  };
}

/** Deletes objects as one request says; returns what became of them. */
export function deleteObjects(
  state: ApiState,
  { request, kind }: ResourceRequest,
  objects: readonly ResourceObject[],
): readonly ResourceObject[] {
  const options = deleteOptions(request);
  return objects.map((object) => deleteObject(state, kind, object, options).object);
}

/** `namespaces/NAME/finalize`: replaces spec.finalizers. */
export function handleFinalize(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind } = resource;
  const body = decodeBody(request.body, request.contentType, kind.kind);
  const { object: draft } = decodeObject(body, kind, 'Ignore');
  const current = currentObject(state, resource);
  const finalizers = isObject(draft['spec']) ? draft['spec']['finalizers'] : undefined;
  const finalized = { ...current, spec: { finalizers: finalizers ?? [] } };
  const updated = updateObject(
    state,
    { kind, current, draft: finalized, subresource: '' },
    writeOptions(request),
  );
  return objectResponse(state, resource, updated);
}
