interface ReadCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

/** What kstatus reads of a custom resource. */
export interface ReadObject {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: unknown;
    readonly conditions?: readonly ReadCondition[];
  };
}

/**
 * The status that kstatus computes for a custom resource, after its documentation: an object that is being deleted is
 * Terminating; one whose status is of an older generation is InProgress; `Reconciling` and `Stalled` count when they are true, the
 * first in the list wins; then `Ready` decides. Flux and Argo CD wait by these rules.
 */
export function kstatusOf({
  metadata,
  status = {},
}: ReadObject): 'Terminating' | 'InProgress' | 'Failed' | 'Current' {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration, conditions = [] } = status;
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return 'InProgress';
  for (const condition of conditions) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Reconciling') return 'InProgress';
    if (condition.type === 'Stalled') return 'Failed';
  }
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}

/** What is wrong with a status by the rules for controllers; empty if nothing is. */
export function kstatusProblems(object: ReadObject): readonly string[] {
  const { conditions = [] } = object.status ?? {};
  const statusOf = (type: string): string | undefined => conditions.find((one) => one.type === type)?.status;
  const problems: string[] = [];
  for (const type of ['Ready', 'Reconciling', 'Stalled'])
    if (conditions.filter((one) => one.type === type).length !== 1) problems.push(`not exactly one ${type}`);
  if (statusOf('Reconciling') === 'True' && statusOf('Stalled') === 'True')
    problems.push('Reconciling and Stalled are both true: readers see only the first');
  const isCurrent = kstatusOf(object) === 'Current';
  if (isCurrent !== (statusOf('Ready') === 'True'))
    problems.push(`Ready is ${statusOf('Ready')}, but kstatus reads ${kstatusOf(object)}`);
  for (const { type, observedGeneration } of conditions)
    if (observedGeneration !== object.metadata.generation) problems.push(`${type} is of another generation`);
  return problems;
}
