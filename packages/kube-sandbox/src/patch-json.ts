import { isObject } from '@addon-operator/json';
import { unescapeSegment } from '@addon-operator/json/pointer';
import { equalJson } from './json-access.ts';
import { badRequest, StatusError } from './status-error.ts';

type PatchStep =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: readonly string[]; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: readonly string[] }
  | { readonly op: 'move' | 'copy'; readonly path: readonly string[]; readonly from: readonly string[] };

/**
 * Applies a JSON patch (RFC 6902) and returns the changed copy.
 *
 * @throws StatusError 400 for a patch that is none, 422 for one that does not fit the document
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  return patch.map(parseStep).reduce(applyStep, document);
}

function rejected(): StatusError {
  return new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  );
}

function parseStep(step: unknown): PatchStep {
  if (!isObject(step)) throw badRequest('error decoding patch: an operation is not an object');
  const path = parsePointer(step['path']);
  switch (step['op']) {
    case 'add':
    case 'replace':
    case 'test':
      return { op: step['op'], path, value: step['value'] ?? null };
    case 'remove':
      return { op: 'remove', path };
    case 'move':
    case 'copy':
      return { op: step['op'], path, from: parsePointer(step['from']) };
    default:
      throw rejected();
  }
}

function parsePointer(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) throw rejected();
  return pointer.split('/').slice(1).map(unescapeSegment);
}

function applyStep(document: unknown, step: PatchStep): unknown {
  switch (step.op) {
    case 'add':
      return changeAt(document, step.path, insert(step.value));
    case 'replace':
      return changeAt(document, step.path, replace(step.value));
    case 'remove':
      return changeAt(document, step.path, remove);
    case 'test':
      if (!equalJson(read(document, step.path), step.value)) throw rejected();
      return document;
    case 'copy':
      return changeAt(document, step.path, insert(read(document, step.from)));
    case 'move':
      return changeAt(changeAt(document, step.from, remove), step.path, insert(read(document, step.from)));
  }
}

/** Changes the container that holds the last step of a path; undefined means the whole document. */
type Change = (container: unknown, key: string | undefined) => unknown;

function changeAt(document: unknown, path: readonly string[], change: Change): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return change(undefined, undefined);
  if (rest.length === 0) return change(document, head);
  const child = changeAt(read(document, [head]), rest, change);
  if (Array.isArray(document)) return document.with(indexIn(document, head), child);
  if (isObject(document)) return { ...document, [head]: child };
  throw rejected();
}

function read(document: unknown, path: readonly string[]): unknown {
  let current = document;
  for (const step of path) {
    if (Array.isArray(current)) current = current[indexIn(current, step)];
    else if (isObject(current) && Object.hasOwn(current, step)) current = current[step];
    else throw rejected();
  }
  return current;
}

function indexIn(list: readonly unknown[], step: string): number {
  const index = /^(0|[1-9]\d*)$/.test(step) ? Number(step) : -1;
  if (index < 0 || index >= list.length) throw rejected();
  return index;
}

function insert(value: unknown): Change {
  return (container, key) => {
    if (key === undefined) return value;
    if (Array.isArray(container)) {
      const index =
        key === '-' || key === String(container.length) ? container.length : indexIn(container, key);
      return container.toSpliced(index, 0, value);
    }
    if (isObject(container)) return { ...container, [key]: value };
    throw rejected();
  };
}

function replace(value: unknown): Change {
  return (container, key) => {
    if (key === undefined) return value;
    read(container, [key]);
    return Array.isArray(container)
      ? container.with(indexIn(container, key), value)
      : { ...Object(container), [key]: value };
  };
}

const remove: Change = (container, key) => {
  if (key === undefined) throw rejected();
  read(container, [key]);
  if (Array.isArray(container)) return container.toSpliced(indexIn(container, key), 1);
  const { [key]: _removed, ...rest } = Object(container);
  return rest;
};
