/** Parses `valueFrom: {secretKeyRef: …}`, the syntax of environment variables in a pod, from a map in values. */

import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';

/** Names one text in a Secret. */
export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Without the text the value is left out. */
  readonly isOptional: boolean;
}

/** A map in values: a reference, or one that is malformed. Plain data gives undefined instead. */
type ParsedReference =
  | { readonly type: 'reference'; readonly reference: SecretReference }
  | { readonly type: 'malformed'; readonly why: string };

const FIELDS: ReadonlySet<string> = new Set(['key', 'name', 'namespace', 'optional']);

/** A map that holds `valueFrom: {secretKeyRef: …}` and nothing else. */
export function parseReference(map: JsonObject, defaultNamespace: string): ParsedReference | undefined {
  const from = onlyValueOf(map, 'valueFrom');
  if (!isJsonMap(from)) return undefined;
  const fields = onlyValueOf(from, 'secretKeyRef');
  if (fields === undefined) return undefined;
  const malformed = (why: string): ParsedReference => ({ type: 'malformed', why: `secretKeyRef ${why}` });
  if (!isJsonMap(fields)) return malformed('must be a map');
  const unknown = Object.keys(fields).filter((field) => !FIELDS.has(field));
  if (unknown.length > 0) return malformed(`has an unknown field "${unknown.join('", "')}"`);
  const { name, key, namespace = defaultNamespace, optional = false } = fields;
  if (!isFilled(name) || !isFilled(key)) return malformed('needs name and key, both strings');
  if (!isFilled(namespace)) return malformed('has a namespace that is not a string');
  if (typeof optional !== 'boolean') return malformed('has an optional that is neither true nor false');
  return { type: 'reference', reference: { namespace, name, key, isOptional: optional } };
}

/** For messages: which key of which Secret. */
export function referenceTitle({ namespace, name, key }: SecretReference): string {
  return `key "${key}" of Secret ${namespace}/${name}`;
}

function onlyValueOf(map: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(map, key) && Object.keys(map).length === 1 ? map[key] : undefined;
}

function isFilled(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
