import { isObject, parseJson, stringifyJson } from '@addon-operator/json';
import { type Fields, scalarString, valueAt } from './json-access.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';
import { MergeType } from './merge-type.ts';
import { decodeOfKind } from './object-body.ts';
import type { PatchType } from './object-patch.ts';
import { invalidValue, StatusError } from './status-error.ts';
import type { TypeMistake } from './typed-decoding.ts';

/**
 * Refuses what a patch would make of an object if a value has the wrong type.
 *
 * @throws StatusError 422
 */
export function requirePatchable(
  patched: Fields,
  kind: ServedKind,
  type: Exclude<PatchType, 'apply'>,
  patch: Uint8Array,
): void {
  if (kind.isCustom) return;
  const { problem, mistake } = decodeOfKind(patched, kind);
  if (problem === undefined) return;
  const cause =
    type === 'strategic'
      ? invalidValue(
          'patch',
          goString(parseJson(Buffer.from(patch).toString('utf8'))),
          restoreProblem(mistake, problem),
        )
      : invalidValue('patch', stringifyJson(patched), problem);
  throw new StatusError(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
}

/** The message of the API server when it makes an object of a patched map of fields. */
function restoreProblem(mistake: TypeMistake | undefined, problem: string): string {
  if (mistake === undefined) return problem;
  const { type } = mistake.type;
  const given = goKind(mistake.value);
  if (type === 'struct') return `cannot restore struct from: ${given}`;
  if (type === 'list' || type === 'map')
    return `cannot restore ${type === 'list' ? 'slice' : 'map'} from ${given}`;
  return `unrecognized type: ${type}`;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : isObject(value) ? 'map' : typeof value;
}

/** Deeper parts of a value are not shown in messages. */
const SHOWN_LEVELS = 100;

/** A value as Go prints it: `map[a:1 b:[x y]]`. */
function goString(value: unknown, level = 0): string {
  if (level >= SHOWN_LEVELS) return '...';
  if (Array.isArray(value)) return `[${value.map((item) => goString(item, level + 1)).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : scalarString(value);
  const fields = Object.keys(value).toSorted();
  return `map[${fields.map((field) => `${field}:${goString(value[field], level + 1)}`).join(' ')}]`;
}

/**
 * Refuses to apply what the schema of a built-in kind does not declare, whatever the field validation is.
 *
 * @throws StatusError 500, as the API server does
 */
export function requireDeclared(
  applied: Fields,
  kind: ServedKind,
  { namespace, name }: { readonly namespace: string | undefined; readonly name: string },
): void {
  if (kind.isCustom || applied['kind'] !== kind.kind || applied['apiVersion'] !== apiVersionOf(kind)) return;
  const { unknown, mistake } = decodeOfKind(applied, kind);
  const problems = [
    ...(mistake === undefined
      ? []
      : [`${declaredPath(mistake.path, applied, kind)}: ${expectation(mistake)}`]),
    ...unknown.map((path) => `${declaredPath(path, applied, kind)}: field not declared in schema`),
  ];
  if (problems.length === 0) return;
  const text =
    problems.length === 1 ? problems.join('') : `errors:\n${problems.map((line) => `  ${line}`).join('\n')}`;
  const title = `${namespace === undefined ? '' : namespace}/${name}; ${kind.group}/${kind.version}, Kind=${kind.kind}`;
  throw new StatusError(500, '', `failed to create typed patch object (${title}): ${text}`);
}

const NUMBERS: readonly string[] = ['int32', 'int64', 'float64'];

function expectation({ type, value }: TypeMistake): string {
  if (NUMBERS.includes(type.type)) return `expected numeric (int or float), got ${goKind(value)}`;
  if (type.type === 'list') return `expected list, got &{${goString(value)}}`;
  if (type.type === 'map' || type.type === 'struct') return `expected map, got &{${goString(value)}}`;
  const expected = type.type === 'bool' ? 'boolean' : 'string';
  return `expected ${expected}, got &value.valueUnstructured{Value:${goValue(value)}}`;
}

function goValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : goString(value);
}

/** `spec.containers[0].image` as field managers see it: `.spec.containers[name="main"].image`. */
function declaredPath(path: string, applied: Fields, kind: ServedKind): string {
  let type = MergeType.ofKind(kind);
  let current: unknown = applied;
  let text = '';
  for (const [, field, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (field !== undefined && index === undefined) {
      type = type.field(field);
      current = valueAt(current, field);
      text += `.${field}`;
    } else {
      const item = valueAt(current, Number(index));
      const named = (type.keys ?? []).map((key) => `${key}=${JSON.stringify(valueAt(item, key))}`);
      text += `[${named.length === 0 ? index : named.join()}]`;
      type = type.item;
      current = item;
    }
  }
  return text;
}
