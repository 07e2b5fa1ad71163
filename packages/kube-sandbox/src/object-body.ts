import { isObject, parseJson, textOf } from '@addon-operator/json';
import { load } from 'js-yaml';
import { duplicateKeys } from './duplicate-keys.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';
import { decodeProtobufBody } from './protobuf-body.ts';
import { META_FIELDS, type ObjectMeta, type ResourceObject } from './resource-object.ts';
import { messageOf } from './sandbox-error.ts';
import { badRequest, unsupportedMediaType } from './status-error.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface DecodedBody {
  readonly value: Readonly<Record<string, unknown>>;
  /** Keys that occur twice, as paths. */
  readonly duplicates: readonly string[];
}

const OBJECT_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** Media type without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/**
 * Decodes a body that holds one object, as JSON, YAML or protobuf; no content type means JSON.
 *
 * @throws StatusError 400 or 415
 */
export function decodeBody(bytes: Uint8Array, contentType: string, kindName: string): DecodedBody {
  const mediaType = mediaTypeOf(contentType);
  switch (mediaType) {
    case '':
    case 'application/json':
      return decodeJson(bytes, kindName);
    case 'application/yaml':
      return { value: decodeYaml(bytes), duplicates: [] };
    case 'application/vnd.kubernetes.protobuf':
      return { value: decodeProtobufBody(bytes), duplicates: [] };
    default:
      throw unsupportedMediaType(OBJECT_TYPES);
  }
}

function decodeJson(bytes: Uint8Array, kindName: string): DecodedBody {
  const text = Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw unrecognized(kindName, messageOf(error));
  }
  if (!isObject(value)) throw unrecognized(kindName, 'not an object');
  return { value, duplicates: duplicateKeys(text) };
}

function unrecognized(kindName: string, why: string): Error {
  const problem = `couldn't get version/kind; json parse error: ${why}`;
  return badRequest(`the object provided is unrecognized (must be of type ${kindName}): ${problem}`);
}

/**
 * Reads one YAML document that is an object. JSON is YAML too, but is read as JSON, so that numbers stay exact.
 *
 * @throws StatusError 400
 */
export function decodeYaml(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = /^\s*\{/.test(text) ? parseJson(text) : load(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw badRequest('error decoding YAML: not an object');
  return value;
}

/**
 * Checks that `value` can be an object of `kind`: type, metadata and, for custom resources, nothing else.
 * Missing apiVersion and kind are filled in.
 *
 * @throws StatusError 400
 */
export function toResourceObject(value: Readonly<Record<string, unknown>>, kind: ServedKind): ResourceObject {
  const apiVersion = value['apiVersion'] ?? apiVersionOf(kind);
  const kindName = value['kind'] ?? kind.kind;
  if (apiVersion !== apiVersionOf(kind) || kindName !== kind.kind)
    throw wrongKind(apiVersion, kindName, kind);
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = value;
  checkTextMaps(rest, kind);
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: toMeta(value['metadata'] ?? {}, kind),
    ...rest,
  };
}

function wrongKind(apiVersion: unknown, kindName: unknown, kind: ServedKind): Error {
  if (kind.isCustom || apiVersion === apiVersionOf(kind)) {
    return badRequest(
      `${cannotBeHandled(kind, String(kindName))}: the object is of kind ${String(apiVersion)}, ${String(kindName)}`,
    );
  }
  return badRequest(
    `the API version in the data (${String(apiVersion)}) does not match the expected API version (${apiVersionOf(kind)})`,
  );
}

function cannotBeHandled({ kind, version }: ServedKind, given = kind): string {
  return `${given} in version "${version}" cannot be handled as a ${kind}`;
}

/** Maps of which clients rely on the server to refuse anything but texts. */
const TEXT_MAPS: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ['data', 'binaryData'],
  Secret: ['data', 'stringData'],
};

function checkTextMaps(fields: Readonly<Record<string, unknown>>, kind: ServedKind): void {
  if (kind.group !== '') return;
  for (const field of TEXT_MAPS[kind.kind] ?? []) {
    const content = fields[field] ?? {};
    const wrong = isObject(content)
      ? Object.values(content).find((value) => typeof value !== 'string')
      : content;
    if (wrong === undefined || wrong === null) continue;
    const type = Array.isArray(wrong) ? 'array' : typeof wrong;
    throw badRequest(
      `${cannotBeHandled(kind)}: json: cannot unmarshal ${type} into Go struct field ${kind.kind}.${field} of type string`,
    );
  }
}

type FieldCheck = (value: unknown) => boolean;

const isText: FieldCheck = (value) => typeof value === 'string';
const isTextMap: FieldCheck = (value) => isObject(value) && Object.values(value).every(isText);
const isObjectList: FieldCheck = (value) => Array.isArray(value) && value.every(isObject);

const META_CHECKS: Readonly<Record<string, readonly [check: FieldCheck, expected: string]>> = {
  name: [isText, 'string'],
  generateName: [isText, 'string'],
  namespace: [isText, 'string'],
  uid: [isText, 'string'],
  resourceVersion: [isText, 'string'],
  generation: [(value) => typeof value === 'number', 'int64'],
  creationTimestamp: [isText, 'string'],
  deletionTimestamp: [isText, 'string'],
  labels: [isTextMap, 'map of strings'],
  annotations: [isTextMap, 'map of strings'],
  ownerReferences: [isObjectList, '[]OwnerReference'],
  finalizers: [(value) => Array.isArray(value) && value.every(isText), '[]string'],
  managedFields: [isObjectList, '[]ManagedFieldsEntry'],
};

function toMeta(value: unknown, kind: ServedKind): ObjectMeta {
  if (!isObject(value)) throw badRequest(`metadata of a ${kind.kind} must be an object`);
  const metadata: Record<string, unknown> = {};
  for (const field of META_FIELDS) {
    const content = value[field];
    if (isEmpty(content)) continue;
    const [isValid, expected] = META_CHECKS[field] ?? [() => true, ''];
    if (!isValid(content)) {
      throw badRequest(`${cannotBeHandled(kind)}: metadata.${field} must be of type ${expected}`);
    }
    metadata[field] = content;
  }
  const name = textOf(metadata['name']);
  return { ...metadata, name };
}

/** Metadata does not keep empty texts, maps and lists. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Unknown top-level and metadata fields of a body in its order, in the server's words. */
export function unknownFields(value: Readonly<Record<string, unknown>>, kind: ServedKind): readonly string[] {
  const { fields } = kind;
  const knownInMeta: readonly string[] = META_FIELDS;
  const known = fields === undefined ? undefined : new Set(['apiVersion', 'kind', 'metadata', ...fields]);
  const unknown = Object.entries(value).flatMap(([field, content]) => {
    if (field === 'metadata' && isObject(content)) {
      const inMeta = Object.keys(content).filter((name) => !knownInMeta.includes(name));
      return inMeta.map((name) => `metadata.${name}`);
    }
    return known === undefined || known.has(field) ? [] : [field];
  });
  return unknown.map((field) => `unknown field "${field}"`);
}

/**
 * Judges unknown and duplicate fields: refused under Strict, returned as warnings under Warn.
 *
 * @throws StatusError 400
 */
export function validateFields(
  body: DecodedBody,
  kind: ServedKind,
  validation: FieldValidation,
): readonly string[] {
  if (validation === 'Ignore') return [];
  const duplicates = body.duplicates.map((path) => `duplicate field "${path}"`);
  const problems = [...unknownFields(body.value, kind), ...duplicates];
  if (problems.length === 0 || validation === 'Warn') return problems;
  throw badRequest(`${cannotBeHandled(kind)}: strict decoding error: ${problems.join(', ')}`);
}

/** Fields that a typed server leaves out when they are empty. */
const OMITTED_FIELDS = [
  'binaryData',
  'data',
  'imagePullSecrets',
  'parameters',
  'secrets',
  'stringData',
  'subjects',
];

/** Removes top-level fields that a built-in kind does not have, as a typed server drops them. */
export function dropUnknownFields(object: ResourceObject, kind: ServedKind): ResourceObject {
  const { fields } = kind;
  if (fields === undefined) return object;
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(object)) {
    if (fields.includes(field) && !(OMITTED_FIELDS.includes(field) ? isEmpty(value) : value === null))
      kept[field] = value;
  }
  return { kind: object.kind, apiVersion: object.apiVersion, metadata: object.metadata, ...kept };
}
