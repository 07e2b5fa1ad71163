import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { load } from 'js-yaml';
import { parseBodyJson } from './body-json.ts';
import { builtInType, objectMetaType } from './built-in-types.ts';
import { prune } from './custom-values.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';
import { decodeProtobufBody } from './protobuf-body.ts';
import { META_FIELDS, type ObjectMeta, type ResourceObject } from './resource-object.ts';
import { messageOf } from './sandbox-error.ts';
import { badRequest, invalid, invalidValue, unsupportedMediaType } from './status-error.ts';
import { type Decoded, decodeTyped } from './typed-decoding.ts';

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
    value = parseBodyJson(text);
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
    value = /^\s*\{/.test(text) ? parseBodyJson(text) : load(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw badRequest('error decoding YAML: not an object');
  return value;
}

/**
 * A decoded value as an object of `kind`, its metadata in order. Missing apiVersion and kind are filled in.
 *
 * @throws StatusError 400 if it is of another kind
 */
export function toResourceObject(value: Readonly<Record<string, unknown>>, kind: ServedKind): ResourceObject {
  checkKind(value, kind);
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = value;
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: toMeta(fieldsOf(metadata)), ...rest };
}

/** @throws StatusError 400 */
function checkKind(value: Readonly<Record<string, unknown>>, kind: ServedKind): void {
  const apiVersion = value['apiVersion'] ?? apiVersionOf(kind);
  const kindName = value['kind'] ?? kind.kind;
  if (apiVersion !== apiVersionOf(kind) || kindName !== kind.kind)
    throw wrongKind(apiVersion, kindName, kind, stringOf(fieldsOf(value['metadata'])['name']));
}

function wrongKind(apiVersion: unknown, kindName: unknown, kind: ServedKind, name: string): Error {
  if (kind.isCustom && kindName !== kind.kind) {
    const cause = invalidValue('kind', kindName, `must be ${kind.kind}`);
    throw invalid({ group: kind.group, kind: String(kindName), name }, [cause]);
  }
  const [version = '', group = ''] = String(apiVersion).split('/').toReversed();
  if (!kind.isCustom && builtInType({ group, version, kind: String(kindName) }) === undefined) {
    const problem = `no kind "${String(kindName)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:110"`;
    return badRequest(
      `${String(kindName)} in version "${version}" cannot be handled as a ${kind.kind}: ${problem}`,
    );
  }
  if (!kind.isCustom && kindName !== kind.kind) {
    const [packageName = ''] = kind.group === '' ? ['core'] : kind.group.split('.');
    const problem = `converting (${version}.${String(kindName)}) to (${packageName}.${kind.kind}): unknown conversion`;
    return badRequest(
      `${String(kindName)} in version "${version}" cannot be handled as a ${kind.kind}: ${problem}`,
    );
  }
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

function toMeta(value: Readonly<Record<string, unknown>>): ObjectMeta {
  const metadata: Record<string, unknown> = {};
  for (const field of META_FIELDS) {
    if (!isEmpty(value[field])) metadata[field] = value[field];
  }
  return { ...metadata, name: stringOf(metadata['name']) };
}

/** Metadata does not keep empty texts, maps and lists. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

export interface DecodedObject {
  readonly object: ResourceObject;
  /** Contents of `Warning` headers. */
  readonly warnings: readonly string[];
}

/**
 * Reads a body as an object of `kind`: values of the wrong type are refused, unknown fields dropped. Unknown and duplicate
 * fields are refused under Strict and returned as warnings under Warn.
 *
 * @throws StatusError 400
 */
export function decodeObject(
  body: DecodedBody,
  kind: ServedKind,
  validation: FieldValidation,
): DecodedObject {
  checkKind(body.value, kind);
  const { value, unknown, problem } = decodeOfKind(body.value, kind);
  if (problem !== undefined) throw badRequest(`${cannotBeHandled(kind)}: ${problem}`);
  const problems = [
    ...unknown.map((path) => `unknown field "${path}"`),
    ...body.duplicates.map((path) => `duplicate field "${path}"`),
  ];
  if (validation === 'Strict' && problems.length > 0)
    throw badRequest(`${cannotBeHandled(kind)}: strict decoding error: ${problems.join(', ')}`);
  return { object: toResourceObject(value, kind), warnings: validation === 'Warn' ? problems : [] };
}

export function decodeOfKind(value: Readonly<Record<string, unknown>>, kind: ServedKind): Decoded {
  const type = builtInType(kind);
  if (type !== undefined && !kind.isCustom) return decodeTyped(value, type);
  const { apiVersion, kind: kindName, metadata, ...rest } = value;
  const typed = decodeTyped(fieldsOf(metadata), objectMetaType());
  const pruned = prune(rest, kind.schema ?? {});
  const isWrong = metadata !== undefined && !isObject(metadata);
  return {
    value: { apiVersion, kind: kindName, metadata: typed.value, ...pruned.value },
    unknown: [...typed.unknown.map((path) => `metadata.${path}`), ...pruned.unknown],
    problem: isWrong ? 'metadata must be an object' : typed.problem,
    mistake: typed.mistake,
  };
}

/** Fields at the top of an object that a typed server leaves out when they are empty; the schema does not distinguish them. */
const OMITTED_FIELDS = [
  'binaryData',
  'data',
  'imagePullSecrets',
  'parameters',
  'secrets',
  'stringData',
  'subjects',
];

/** Removes the fields at the top of a built-in object that a typed server leaves out when they are empty. */
export function dropEmptyFields(object: ResourceObject): ResourceObject {
  const { kind, apiVersion, metadata } = object;
  const kept = Object.entries(object).filter(
    ([field, value]) => !(OMITTED_FIELDS.includes(field) ? isEmpty(value) : value === null),
  );
  return { kind, apiVersion, metadata, ...Object.fromEntries(kept) };
}
