import { OperatorError } from '@addon-operator/base/errors';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { DocumentReader, isPathSegment } from './document-reader.ts';
import { patchDocumentSteps } from './patch-documents.ts';
import type { NewObject, ObjectTarget, PatchOperation } from './patch-operation.ts';

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
 * Reads what a hook wrote to KUBERNETES_PATCH_PATH: a stream of JSON objects or YAML documents, each an operation.
 * A blank text has none. Unknown fields, and fields of other operations, are ignored.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID for the first bad operation, counted from 1, with everything that is
 *   wrong with it; no value of it is shown, since it may be a secret
 */
export function parsePatchOperations(text: string): readonly PatchOperation[] {
  return finish(patchOperationSteps(text));
}

/** The steps of {@link parsePatchOperations}. */
export function* patchOperationSteps(text: string): Steps<readonly PatchOperation[]> {
  const { format, documents } = yield* patchDocumentSteps(text);
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

/** Spells known fields as documented, in any case. */
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

function readOperation(reader: DocumentReader): PatchOperation | undefined {
  const name = reader.requiredText('operation');
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
        jqFilter: reader.requiredText('jqFilter'),
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

function readTarget(reader: DocumentReader): ObjectTarget {
  return {
    apiVersion: reader.text('apiVersion'),
    kind: reader.requiredText('kind'),
    namespace: reader.pathSegment('namespace'),
    name: reader.requiredPathSegment('name'),
  };
}

function readPatching(reader: DocumentReader): {
  readonly target: ObjectTarget;
  readonly subresource: string | undefined;
} {
  const target = readTarget(reader);
  const subresource = reader.text('subresource')?.replace(/^\/+/, '');
  if (subresource === undefined || subresource === '') return { target, subresource: undefined };
  if (!isPathSegment(subresource)) reader.problems.push('subresource must be one word, for example status');
  return { target, subresource };
}

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

function problemsOf(
  { apiVersion, kind, metadata }: Readonly<Record<string, unknown>>,
  { name, generateName, namespace }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const problems: string[] = [];
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  if (apiVersion !== undefined && typeof apiVersion !== 'string') {
    problems.push('object.apiVersion must be a string');
  }
  if (!isText(kind)) problems.push('object.kind is required and must be a string');
  if (!isObject(metadata)) problems.push('object.metadata is required and must be a mapping');
  else if (!isText(name) && !isText(generateName)) {
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
