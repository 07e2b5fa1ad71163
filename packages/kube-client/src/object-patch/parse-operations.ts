// Parses the object patch file of a hook into typed operations. `patch-documents.ts` splits the file into
// documents; here each is checked, all problems of the first bad one in one error. Nothing is applied if one
// operation is invalid. No message quotes a value, since it may be a secret. It runs in steps, so that a
// large file does not block the event loop.

import { OperatorError } from '@addon-operator/base/errors';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { DocumentReader, isPathSegment } from './document-reader.ts';
import { patchDocumentSteps } from './patch-documents.ts';
import type { NewObject, ObjectTarget, PatchOperation } from './patch-operation.ts';

/** As documented for hooks; matched exactly. */
const OPERATIONS = [
  'Create',
  'CreateIfNotExists',
  'CreateOrUpdate',
  'Delete',
  'DeleteInBackground',
  'DeleteNonCascading',
  'JQPatch',
  'MergePatch',
  'JSONPatch',
] as const satisfies readonly PatchOperation['operation'][];

/** Fields of all operations together, as documented for hooks. */
const FIELDS = [
  'operation',
  'object',
  'apiVersion',
  'kind',
  'namespace',
  'name',
  'subresource',
  'jqFilter',
  'mergePatch',
  'jsonPatch',
  'ignoreMissingObject',
  'ignoreHookError',
] as const;

/**
 * Parses the file at KUBERNETES_PATCH_PATH that a hook wrote: a stream of JSON objects or YAML documents, each an
 * operation. A blank file has none. Unknown fields, and fields of other operations, are ignored.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID for the first bad operation, counted from 1, with everything that is
 *   wrong with it; no value of it is shown, since it may be a secret
 */
export function parsePatchOperations(content: string): readonly PatchOperation[] {
  return finish(patchOperationSteps(content));
}

/** The steps of {@link parsePatchOperations}. */
export function* patchOperationSteps(content: string): Steps<readonly PatchOperation[]> {
  const { format, documents } = yield* patchDocumentSteps(content);
  const operations: PatchOperation[] = [];
  for (const [index, document] of documents.entries()) {
    const number = index + 1;
    if (!isObject(document)) throw invalid(number, [whyNoMapping(document)]);
    const fields = format === 'json' ? foldFieldNames(document, number) : document;
    const reader = new DocumentReader(fields);
    const operation = readOperation(reader);
    if (operation === undefined || reader.problems.length > 0) throw invalid(number, reader.problems);
    operations.push(operation);
    yield;
  }
  return operations;
}

function whyNoMapping(document: unknown): string {
  if (document === null) return 'it is empty; remove the "---" before it';
  return Array.isArray(document)
    ? 'it is a list; write the operations one after another instead'
    : 'it is not a mapping';
}

/** Maps known fields of any case to their documented spelling, as Go's JSON decoder does. */
function foldFieldNames(
  document: Readonly<Record<string, unknown>>,
  number: number,
): Record<string, unknown> {
  const folded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(document)) {
    const field = FIELDS.find((known) => known.toLowerCase() === key.toLowerCase());
    if (field === undefined) continue;
    if (Object.hasOwn(folded, field)) throw invalid(number, [`${field} is given twice`]);
    folded[field] = value;
  }
  return folded;
}

/**
 * Reads the fields of one operation; problems are collected in the reader. Undefined for an unknown
 * operation.
 */
function readOperation(reader: DocumentReader): PatchOperation | undefined {
  const name = reader.requiredString('operation');
  const operation = OPERATIONS.find((known) => known === name);
  // Accepted for compatibility: a failed hook has none of its operations applied.
  reader.flag('ignoreHookError');
  const ignoreMissingObject = reader.flag('ignoreMissingObject');
  switch (operation) {
    case undefined:
      if (name !== '') reader.problems.push(`operation must be one of ${OPERATIONS.join(', ')}`);
      return undefined;
    case 'Create':
    case 'CreateIfNotExists':
    case 'CreateOrUpdate':
      return { operation, object: readNewObject(reader) };
    case 'Delete':
    case 'DeleteInBackground':
    case 'DeleteNonCascading':
      return { operation, target: readTarget(reader) };
    case 'JQPatch':
      return {
        operation,
        ...readPatching(reader),
        ignoreMissingObject,
        jqFilter: reader.requiredString('jqFilter'),
      };
    case 'MergePatch':
      return {
        operation,
        ...readPatching(reader),
        ignoreMissingObject,
        mergePatch: reader.mapping('mergePatch'),
      };
    case 'JSONPatch':
      return { operation, ...readPatching(reader), ignoreMissingObject, jsonPatch: readJsonPatch(reader) };
  }
}

/** The fields that address an existing object. */
function readTarget(reader: DocumentReader): ObjectTarget {
  return {
    apiVersion: reader.string('apiVersion'),
    kind: reader.requiredString('kind'),
    namespace: reader.pathSegment('namespace'),
    name: reader.requiredPathSegment('name'),
  };
}

/**
 * Target and subresource of an operation that changes an object; slashes before the subresource are accepted.
 */
function readPatching(reader: DocumentReader): {
  readonly target: ObjectTarget;
  readonly subresource: string | undefined;
} {
  const target = readTarget(reader);
  const subresource = reader.string('subresource')?.replace(/^\/+/, '');
  if (subresource === undefined || subresource === '') return { target, subresource: undefined };
  if (!isPathSegment(subresource)) reader.problems.push('subresource must be one word, for example status');
  return { target, subresource };
}

/** The object to create. Its own fields are checked only as far as they are needed for the request. */
function readNewObject(reader: DocumentReader): NewObject {
  const known = reader.problems.length;
  const object = reader.mapping('object');
  const { apiVersion, kind, metadata } = object;
  const fields = fieldsOf(metadata);
  if (reader.problems.length === known) reader.problems.push(...problemsOf(object, fields));
  return {
    ...object,
    kind: stringOf(kind),
    metadata: fields,
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
  };
}

/** Everything that would keep the object from being addressed. */
function problemsOf(
  { apiVersion, kind, metadata }: Readonly<Record<string, unknown>>,
  { name, generateName, namespace }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const problems: string[] = [];
  const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';
  if (apiVersion !== undefined && typeof apiVersion !== 'string') {
    problems.push('object.apiVersion must be a string');
  }
  if (!isFilled(kind)) problems.push('object.kind is required and must be a string');
  if (!isObject(metadata)) problems.push('object.metadata is required and must be a mapping');
  else if (!isFilled(name) && !isFilled(generateName)) {
    problems.push('object.metadata.name is required and must be a string');
  }
  if (typeof name === 'string' && !isPathSegment(name)) {
    problems.push('object.metadata.name must not be "." or ".." or contain "/" or "%"');
  }
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    problems.push('object.metadata.namespace must be a string');
  } else if (typeof namespace === 'string' && !isPathSegment(namespace)) {
    problems.push('object.metadata.namespace must not be "." or ".." or contain "/" or "%"');
  }
  return problems;
}

/** The items are checked for RFC 6902 here: the API server's messages would quote values. */
function readJsonPatch(reader: DocumentReader): readonly unknown[] {
  const patch = reader.list('jsonPatch');
  for (const [index, item] of patch.entries()) {
    const place = `jsonPatch[${index}]`;
    if (isObject(item))
      reader.problems.push(...jsonPatchProblems(item).map((problem) => `${place}.${problem}`));
    else reader.problems.push(`${place} must be a mapping`);
  }
  return patch;
}

function jsonPatchProblems(item: Readonly<Record<string, unknown>>): readonly string[] {
  const { op, path, from } = item;
  const problems: string[] = [];
  const isPointer = (value: unknown): boolean => typeof value === 'string' && /^(?:\/|$)/.test(value);
  if (!isPointer(path)) problems.push('path must be a JSON pointer such as /spec/replicas');
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(item, 'value')) problems.push('value is required');
      break;
    case 'move':
    case 'copy':
      if (!isPointer(from)) problems.push('from must be a JSON pointer such as /spec/replicas');
      break;
    case 'remove':
      break;
    default:
      problems.push('op must be one of add, remove, replace, move, copy, test');
  }
  return problems;
}

function invalid(number: number, problems: readonly string[]): OperatorError {
  return new OperatorError(
    'HOOK_OUTPUT_INVALID',
    `Operation ${number} of the object patch: can't validate document: ${problems.join('; ')}`,
  );
}
