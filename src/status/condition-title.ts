import type { WhyId, WhyNode } from './cause.ts';

/** Each condition as it is called while it holds, while it does not, and before it is known. */
const TITLES: Readonly<Record<WhyId, readonly [holds: string, fails: string, open: string]>> = {
  authorized: ['Authorized', 'Not authorized', 'Authorization'],
  found: ['Files complete', 'Files missing or invalid', 'Files'],
  config: ['ConfigMap accepted', 'ConfigMap refused', 'ConfigMap'],
  enabled: ['Enabled', 'Disabled', 'Flags'],
  'not-paused': ['Active', 'Paused', 'Pause'],
  requirements: ['Requirements met', 'Requirements not met', 'Requirements'],
  queue: ['Queue free', 'Queue blocked', 'Queue'],
  synchronized: ['Hooks synchronized', 'Hooks not synchronized', 'Synchronization of hooks'],
  'before-helm': ['beforeHelm hooks succeeded', 'beforeHelm hooks failed', 'beforeHelm hooks'],
  helm: ['Chart deployed', 'Chart not deployed', 'Chart'],
  hooks: ['Hooks succeed', 'A hook failed', 'Hooks'],
  ready: ['Ready', 'Not ready', 'Readiness'],
};

/** Causes that say more than the condition that they keep from being true. */
const BY_REASON: Readonly<Record<string, string | undefined>> = {
  HookRunning: 'A hook is running',
  HookHangs: 'A hook hangs',
  QueueBlocked: 'Queue blocked',
  DeletionPutOff: 'Deletion put off',
  DriftNotCorrected: 'Objects changed by others',
};

/**
 * A condition in its present state, as a heading; children of conditions have their own names.
 *
 * @param timeText shows a time, such as the end of a pause
 */
export function conditionTitle(
  { id, ok, reason, until }: Pick<WhyNode, 'id' | 'ok' | 'reason' | 'until'>,
  timeText: (at: string) => string,
): string {
  const titles = (TITLES as Readonly<Record<string, readonly [string, string, string] | undefined>>)[id];
  if (titles === undefined) return id;
  const [holds, fails, open] = titles;
  if (ok === null) return open;
  if (ok) return holds;
  if (id === 'not-paused' && until !== null) return `Paused until ${timeText(until)}`;
  return BY_REASON[reason ?? ''] ?? fails;
}
