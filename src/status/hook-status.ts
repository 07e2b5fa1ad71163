/** Computes the server-side apply for the status that a reconcile webhook returned; see {@link hookStatus}. */

import { canonicalJson, fieldsOf, isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { CONDITION_TYPES } from './module-conditions.ts';
import { STATUS_FIELDS } from './status-change.ts';

/** Who fields are written as that the reconcile webhook of a module reports. */
export const HOOK_FIELD_MANAGER = 'addon-operator-module-hook';

type Fields = Readonly<Record<string, unknown>>;

const OPERATORS_FIELDS: ReadonlySet<string> = new Set(STATUS_FIELDS);
const OPERATORS_CONDITIONS: ReadonlySet<unknown> = new Set(CONDITION_TYPES);

/**
 * The fields to apply as {@link HOOK_FIELD_MANAGER} so that the status becomes the one that the hook returned: fields that
 * it changed, and fields that it reported before and keeps. A field that it left out is removed. Fields and conditions of
 * the operator, and those of other clients that the hook did not change, are not touched.
 *
 * @param sent the Module object as the hook saw it, with its managed fields
 * @returns undefined when there is nothing to write
 */
export function hookStatus(sent: KubeObject, returned: Fields): Fields | undefined {
  const before = fieldsOf(sent['status']);
  const owned = ownedFields(sent.metadata['managedFields']);
  const [fields, areFieldsNew] = chosen(
    entriesOf(returned),
    new Map(entriesOf(before)),
    ownedKeys(owned, 'f:'),
  );
  const [conditions, areConditionsNew] = chosen(
    conditionsIn(returned),
    new Map(conditionsIn(before)),
    ownedConditions(owned),
  );
  if (!areFieldsNew && !areConditionsNew) return undefined;
  return {
    ...Object.fromEntries(fields),
    ...(conditions.length > 0 && { conditions: conditions.map(([, condition]) => condition) }),
  };
}

type Entry = readonly [string, unknown];

/** Those that are ours or new, and whether that is different from what there is. */
function chosen(
  returned: readonly Entry[],
  before: ReadonlyMap<string, unknown>,
  owned: ReadonlySet<string>,
): readonly [readonly Entry[], boolean] {
  const isChanged = ([key, value]: Entry): boolean =>
    !before.has(key) || canonicalJson(before.get(key)) !== canonicalJson(value);
  const keys = new Set(returned.map(([key]) => key));
  const isAnyGone = [...owned].some((key) => before.has(key) && !keys.has(key));
  return [
    returned.filter((entry) => owned.has(entry[0]) || isChanged(entry)),
    isAnyGone || returned.some(isChanged),
  ];
}

function entriesOf(status: Fields): readonly Entry[] {
  return Object.entries(status).filter(([key]) => !OPERATORS_FIELDS.has(key));
}

/** By type. */
function conditionsIn({ conditions }: Fields): readonly Entry[] {
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return list
    .filter(isObject)
    .filter(({ type }) => !OPERATORS_CONDITIONS.has(type))
    .map((condition) => [String(condition['type']), condition]);
}

/** The fields of the status that the hook owns, according to the managed fields of the API server. */
function ownedFields(managedFields: unknown): Fields {
  const list: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  const own = list
    .filter(isObject)
    .find(({ manager, operation }) => manager === HOOK_FIELD_MANAGER && operation === 'Apply');
  const fields = own?.['fieldsV1'];
  const status = isObject(fields) ? fields['f:status'] : undefined;
  return fieldsOf(status);
}

function ownedKeys(owned: Fields, prefix: string): ReadonlySet<string> {
  const keys = Object.keys(owned).filter((key) => key.startsWith(prefix));
  return new Set(keys.map((key) => key.slice(prefix.length)).filter((key) => !OPERATORS_FIELDS.has(key)));
}

function ownedConditions(owned: Fields): ReadonlySet<string> {
  const conditions = fieldsOf(owned['f:conditions']);
  const types = [...ownedKeys(conditions, 'k:')].map((key) => {
    const item: unknown = JSON.parse(key);
    return isObject(item) ? String(item['type']) : '';
  });
  return new Set(types);
}
