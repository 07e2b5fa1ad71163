import { oneLine } from '@addon-operator/base/escape-controls';
import type { ModuleFailure } from './module-explanation.ts';
import type { ModuleFacts } from './module-facts.ts';

export const CONDITION_TYPES = ['Enabled', 'Ready', 'Progressing', 'Drifted', 'Stalled'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** What is true of a module, in the form Kubernetes uses everywhere. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

const MAX_MESSAGE_LENGTH = 1_024;
const MAX_HEADLINE_LENGTH = 240;
const HEADLINE_START = 80;

/** All five conditions, in a fixed order. */
export function conditionsOf(facts: ModuleFacts): readonly Condition[] {
  return [enabled(facts), ready(facts), progressing(facts), drifted(facts), stalled(facts)].map(
    (condition) => ({
      ...condition,
      message: condition.type === 'Ready' ? headline(condition.message) : bounded(condition.message),
    }),
  );
}

/**
 * What `kubectl get modules` shows in its last column. kubectl ends a cell at the first line end, and programs print the
 * reason for their failure last.
 */
function headline(text: string): string {
  const line = oneLine(text);
  if (line.length <= MAX_HEADLINE_LENGTH) return line;
  return `${line.slice(0, HEADLINE_START)} … ${line.slice(-(MAX_HEADLINE_LENGTH - HEADLINE_START - 3))}`;
}

/** A text that fits into a status. */
export function bounded(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}

function enabled({ explanation: { status, isEnabled, source, reason } }: ModuleFacts): Condition {
  if (status === 'undecided')
    return { type: 'Enabled', status: 'Unknown', reason: 'NotDecided', message: reason };
  return {
    type: 'Enabled',
    status: isEnabled ? 'True' : 'False',
    reason: source === null ? 'Decided' : camelCase(source),
    message: reason,
  };
}

function ready({ explanation, isDeployed }: ModuleFacts): Condition {
  const { status, failure, pause } = explanation;
  const not = (reason: string, message: string): Condition => ({
    type: 'Ready',
    status: 'False',
    reason,
    message,
  });
  switch (status) {
    case 'undecided':
      return { type: 'Ready', status: 'Unknown', reason: 'NotDecided', message: explanation.reason };
    case 'disabled':
      return not('Disabled', 'The module is disabled');
    case 'held':
      return not('DirectoryGone', explanation.reason);
    case 'unauthorized':
      return not('Unauthorized', explanation.reason);
    case 'deleting':
      return not('Deleting', failureMessage(failure) ?? 'The module is disabled and being deleted');
    case 'starting':
      return not('Progressing', explanation.waitsFor[0] ?? 'The module is running');
    case 'failing':
    case 'isolated':
      return not(failureReason(explanation), failureMessage(failure) ?? 'A required module fails');
    case 'paused':
      return isDeployed
        ? { type: 'Ready', status: 'True', reason: 'Paused', message: `Paused: ${pause?.reason ?? ''}` }
        : not('Paused', `Paused before its run finished: ${pause?.reason ?? ''}`);
    case 'ready':
      return { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'The last run succeeded' };
  }
}

function progressing({ explanation: { status, failure }, progress }: ModuleFacts): Condition {
  const says = (isSo: boolean, reason: string, message: string): Condition => ({
    type: 'Progressing',
    status: isSo ? 'True' : 'False',
    reason,
    message,
  });
  if (status === 'starting' || status === 'undecided')
    return says(true, 'Running', 'The module is running or queued');
  if (status === 'deleting') return says(true, 'Deleting', 'The module is being deleted');
  if (failure?.isGivenUp === true && progress !== 'none')
    return says(true, 'Running', 'The module is running again after a change, or is queued');
  if (failure?.isGivenUp === true)
    return says(false, 'GivenUp', 'It is not retried until something about the module changes');
  if (status === 'failing' && failure !== null)
    return says(true, 'Retrying', `Failed attempts: ${failure.attempts}; it will be retried`);
  return says(false, 'Idle', 'Nothing to do');
}

function drifted({ explanation: { drift } }: ModuleFacts): Condition {
  if (drift === null || drift.mode === 'off')
    return { type: 'Drifted', status: 'Unknown', reason: 'NotWatched', message: 'Drift is not watched' };
  const { objects: changed, uncompared = [] } = drift;
  if (changed.length === 0 && uncompared.length > 0) {
    const unknown = uncompared.map(({ resource, error }) => `${resource}: ${error}`);
    return { type: 'Drifted', status: 'Unknown', reason: 'CannotCompare', message: unknown.join('; ') };
  }
  if (changed.length === 0)
    return {
      type: 'Drifted',
      status: 'False',
      reason: 'InSync',
      message: 'Objects match what helm applied',
    };
  const objects = changed.map(({ resource, fields }) => `${resource}: ${fields.join(', ')}`);
  return { type: 'Drifted', status: 'True', reason: 'ChangedByOthers', message: objects.join('; ') };
}

function stalled({ explanation }: ModuleFacts): Condition {
  const { status, failure, pause } = explanation;
  const is = (reason: string, message: string): Condition => ({
    type: 'Stalled',
    status: 'True',
    reason,
    message,
  });
  if (status === 'held') return is('DirectoryGone', explanation.reason);
  if (status === 'unauthorized') return is('Unauthorized', explanation.reason);
  if (status === 'paused') return is('Paused', `Paused: ${pause?.reason ?? ''}`);
  if (status === 'failing' || status === 'isolated' || failure !== null)
    return is(failureReason(explanation), failureMessage(failure) ?? 'A required module fails');
  return { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'The module is not stalled' };
}

/** The code comes first, so that it is not what a long message loses. */
function failureMessage(failure: ModuleFailure | null): string | undefined {
  if (failure === null) return undefined;
  return failure.code === undefined ? failure.error : `${failure.code}: ${failure.error}`;
}

function failureReason({ status, failure }: ModuleFacts['explanation']): string {
  return status === 'isolated' && failure === null ? 'RequirementFailed' : 'RunFailed';
}

/** `config-map` → `ConfigMap`. */
function camelCase(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/u)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}
