/**
 * Checks that bindings of several kinds share: label selectors, snapshot names, durations. Each yields problems as
 * sentences and never throws, so that all problems of a configuration are reported together. Crontabs and jq programs are
 * checked by the functions that the caller passes, which keeps this room independent of those engines.
 */

import { messageOf } from '@addon-operator/base/errors';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import type { LabelSelector } from './kubernetes-binding.ts';

/** Checks of parts of a configuration that other rooms know about; each throws an Error with the reason. */
export interface BindingChecks {
  readonly crontab: (expression: string) => void;
  readonly jqFilter: (program: string) => Promise<void>;
}

/** `version` or `group/version`. */
export const API_VERSION = /^([a-z0-9.-]+\/)?[a-z0-9]+$/i;

/** The message that `check` throws, with `prefix` in front; empty if it does not throw. */
export async function problemsOf(prefix: string, check: () => unknown): Promise<readonly string[]> {
  try {
    await check();
    return [];
  } catch (error) {
    return [`${prefix}: ${messageOf(error)}`];
  }
}

/** @throws Error when the text is no duration */
export function durationMs(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) throw new Error(`'${text}' is not a duration such as 30s or 1h30m`);
  return ms;
}

/** An empty text means the same as none. */
export function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** The limits of Kubernetes for label keys and values. */
const MAX_PREFIX_LENGTH = 253;
const MAX_NAME_LENGTH = 63;
const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Why a selector cannot be sent to the API server: keys and values must have the form of labels, and each operator takes
 * values or none.
 */
export function* labelSelectorProblems(selector: LabelSelector | undefined): Iterable<string> {
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {}))
    yield* labelProblems(key, [value], 'matchLabels');
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const hasValues = values.length > 0;
    if ((operator === 'In' || operator === 'NotIn') !== hasValues)
      yield `labelSelector is invalid: key '${key}': ${operator} ${hasValues ? 'takes no values' : 'needs values'}`;
    yield* labelProblems(key, values, 'matchExpressions');
  }
}

function* labelProblems(key: string, values: readonly string[], where: string): Iterable<string> {
  if (!isLabelKey(key))
    yield `labelSelector is invalid: ${where}: '${key}' is not a label key: expected at most ${MAX_NAME_LENGTH} letters, digits, '-', '_' and '.', with a letter or digit at both ends, and before them, if needed, a domain and '/'`;
  for (const value of values)
    if (value !== '' && !isName(value))
      yield `labelSelector is invalid: ${where}: key '${key}': '${value}' is not a label value: expected at most ${MAX_NAME_LENGTH} letters, digits, '-', '_' and '.', with a letter or digit at both ends`;
}

function isLabelKey(key: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').reverse();
  if (more.length > 0 || !isName(name)) return false;
  return prefix === undefined || (prefix.length <= MAX_PREFIX_LENGTH && PREFIX.test(prefix));
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && NAME.test(text);
}

/** A binding that gets snapshots of kubernetes bindings, as it is written. */
export interface SnapshotUser {
  readonly group?: string;
  readonly includeSnapshotsFrom?: readonly string[];
}

/** A kubernetes binding as others refer to it. */
export interface SnapshotSource {
  readonly name?: string;
  readonly group?: string;
}

/** The name a kubernetes binding goes by. */
export function snapshotName(source: SnapshotSource): string {
  return given(source.name) ?? 'kubernetes';
}

/** Problems of the names in `includeSnapshotsFrom`: each must be that of exactly one kubernetes binding. */
export function* snapshotProblems(
  user: SnapshotUser,
  kubernetes: readonly SnapshotSource[],
): Iterable<string> {
  for (const name of user.includeSnapshotsFrom ?? []) {
    const count = kubernetes.filter((source) => snapshotName(source) === name).length;
    if (count === 0) yield `includeSnapshotsFrom: '${name}' binding name not found`;
    if (count > 1) yield `includeSnapshotsFrom: there are ${count} '${name}' binding names`;
  }
}

/**
 * Positions of the kubernetes bindings whose snapshots go into a context: those of `includeSnapshotsFrom`, then those of
 * the group, without repetition.
 */
export function snapshotPositions(
  user: SnapshotUser,
  kubernetes: readonly SnapshotSource[],
): readonly number[] {
  const included = (user.includeSnapshotsFrom ?? []).map((name) =>
    kubernetes.findIndex((source) => snapshotName(source) === name),
  );
  const group = given(user.group);
  const grouped = kubernetes.flatMap((source, index) =>
    group !== undefined && source.group === group ? [index] : [],
  );
  return [...new Set([...included, ...grouped])];
}
