/**
 * Replaces `valueFrom.secretKeyRef` in values by the content of Secrets. It is pure: the lookup comes from
 * `secret-watcher.ts`. A required reference that cannot be resolved is returned as unresolved; the caller decides whether
 * that stops a run or the value is left out.
 */

import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { escapeSegment } from '@addon-operator/json/pointer';
import { parseReference, referenceTitle, type SecretReference } from './secret-reference.ts';

/** The result of looking up a string in a Secret. */
export type SecretText =
  | { readonly type: 'known'; readonly text: string }
  /** The Secret or its key does not exist. */
  | { readonly type: 'absent'; readonly why: string }
  /** It is not known, or it is no text. */
  | { readonly type: 'unknown'; readonly why: string };

export interface SecretLookup {
  /** Namespace of references that name none. */
  readonly namespace: string;
  readonly lookup: (reference: SecretReference) => SecretText;
}

/** A reference for which there is no text. */
export interface Unresolved {
  /** Its place, as a JSON pointer within the section. */
  readonly pointer: string;
  readonly why: string;
}

interface ResolvedValues {
  readonly values: JsonObject;
  readonly unresolved: readonly Unresolved[];
}

/**
 * Values with the texts of Secrets in place of the references to them. An optional reference to nothing is left out, in a
 * list it becomes null.
 *
 * @param standIn what comes in place of other references without a text: nothing, or null
 */
export function resolveSecrets(
  values: JsonObject,
  secrets: SecretLookup,
  standIn: 'absent' | 'null',
): ResolvedValues {
  const unresolved: Unresolved[] = [];
  const leaveUnresolved = (pointer: string, why: string): Json | undefined => {
    unresolved.push({ pointer, why });
    return standIn === 'null' ? null : undefined;
  };
  const resolve = (value: Json, pointer: string): Json | undefined => {
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => resolve(item, `${pointer}/${index}`) ?? null);
    }
    if (!isJsonMap(value)) return value;
    const parsed = parseReference(value, secrets.namespace);
    if (parsed === undefined) return resolveMap(value, pointer);
    if (parsed.type === 'malformed') return leaveUnresolved(pointer, parsed.why);
    const { reference } = parsed;
    const found = secrets.lookup(reference);
    switch (found.type) {
      case 'known':
        return found.text;
      case 'absent':
        if (reference.isOptional) return undefined;
        return leaveUnresolved(pointer, `${referenceTitle(reference)}: ${found.why}`);
      case 'unknown':
        return leaveUnresolved(pointer, `${referenceTitle(reference)}: ${found.why}`);
    }
  };
  const resolveMap = (map: JsonObject, pointer: string): JsonObject => {
    const pairs: (readonly [string, Json])[] = [];
    for (const [key, child] of Object.entries(map)) {
      const resolved = resolve(child, `${pointer}/${escapeSegment(key)}`);
      if (resolved !== undefined) pairs.push([key, resolved]);
    }
    // Defines own properties, so a key such as `__proto__` stays plain data.
    return Object.fromEntries(pairs);
  };
  return { values: resolveMap(values, ''), unresolved };
}

/** All well-formed references in values. */
export function referencesIn(values: JsonObject, namespace: string): readonly SecretReference[] {
  const found: SecretReference[] = [];
  const lookup = (reference: SecretReference): SecretText => {
    found.push(reference);
    return { type: 'known', text: '' };
  };
  resolveSecrets(values, { namespace, lookup }, 'absent');
  return found;
}
