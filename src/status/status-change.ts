/** Decides whether a status has to be written now, later or not at all; see {@link statusChange}. */

import { canonicalJson, fieldsOf, isObject } from '@addon-operator/json';
import type { ModuleStatusFields } from './module-status.ts';

/**
 * Every field that the operator writes; all other fields of a status belong to other clients. Fields that are `chatter` change
 * with every run although nothing became different.
 */
const FIELD_KINDS: Readonly<Record<keyof ModuleStatusFields, 'substance' | 'chatter'>> = {
  observedGeneration: 'substance',
  operator: 'substance',
  phase: 'substance',
  enablement: 'substance',
  version: 'substance',
  description: 'substance',
  stage: 'substance',
  release: 'substance',
  lastError: 'substance',
  failedAttempts: 'substance',
  nextRetry: 'substance',
  lastReconcileTime: 'chatter',
  lastRun: 'chatter',
  hookRuns: 'chatter',
  conditions: 'substance',
};

export const STATUS_FIELDS = Object.keys(FIELD_KINDS) as readonly (keyof ModuleStatusFields)[];

/**
 * The kind of difference between a status to be written and the one in the cluster: none, only times of runs (`chatter`),
 * or something that a client waits for.
 */
export function statusChange(wanted: ModuleStatusFields, current: unknown): 'none' | 'chatter' | 'substance' {
  const before = fieldsOf(current);
  const changed = STATUS_FIELDS.filter((field) =>
    field === 'conditions'
      ? areConditionsChanged(wanted.conditions, before['conditions'])
      : comparable(wanted[field]) !== comparable(before[field]),
  );
  if (changed.length === 0) return 'none';
  const isChatter =
    changed.every((field) => FIELD_KINDS[field] === 'chatter') && !hasNewFailure(wanted, before['hookRuns']);
  return isChatter ? 'chatter' : 'substance';
}

function areConditionsChanged(wanted: ModuleStatusFields['conditions'], before: unknown): boolean {
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  return wanted.some((condition) => {
    const same = known.filter(isObject).find(({ type }) => type === condition.type);
    return same === undefined || comparable(same) !== comparable(condition);
  });
}

/** A hook began or ceased to fail. */
function hasNewFailure({ hookRuns = [] }: ModuleStatusFields, before: unknown): boolean {
  return comparable(failing(hookRuns)) !== comparable(failing(Array.isArray(before) ? before : []));
}

function failing(runs: readonly unknown[]): readonly string[] {
  return runs
    .filter(isObject)
    .filter(({ result }) => result === 'failure')
    .map(({ hook, binding, error }) => canonicalJson([hook, binding, error]))
    .toSorted();
}

function comparable(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}
