import { given } from './binding-checks.ts';

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

/** What is wrong with the names in `includeSnapshotsFrom`: each must be that of exactly one kubernetes binding. */
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
