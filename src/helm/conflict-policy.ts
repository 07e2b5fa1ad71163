export const CONFLICT_POLICIES = ['overwrite', 'fail'] as const;

/**
 * What becomes of a field that the chart sets and that somebody else has set to another value. `overwrite`: the chart's
 * value is applied. `fail`: nothing is, and the run of the module fails.
 */
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/** Reads the key `conflicts` of a `module.yaml`; what is wrong with it is added to `problems`. */
export function readConflictPolicy(value: unknown, problems: string[]): ConflictPolicy {
  if (value === null || value === undefined) return 'overwrite';
  const policy = CONFLICT_POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  problems.push(`conflicts: expected one of ${CONFLICT_POLICIES.join(', ')}, got ${JSON.stringify(value)}`);
  return 'overwrite';
}
