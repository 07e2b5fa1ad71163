/**
 * Derives the conditions of a module. The first cause (`module-causes.ts`) decides in most cases; the switch over the
 * status says what is true without one. `Ready`, `Reconciling` and `Stalled` have the meaning of kstatus, so that
 * `kubectl wait` and Flux understand them.
 */

import { oneLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import type { Cause } from './cause.ts';
import { failureMessage } from './module-causes.ts';
import type { ModuleFacts } from './module-facts.ts';

export const CONDITION_TYPES = [
  'Enabled',
  'Ready',
  'Reconciling',
  'Drifted',
  'Stalled',
  'UpdatePending',
] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** One condition of a module, in the standard form of Kubernetes. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

const MAX_MESSAGE_LENGTH = 1_024;
const MAX_HEADLINE_LENGTH = 240;
const HEADLINE_START = 120;

/**
 * The conditions, in a fixed order; `UpdatePending` is there only while it is true. `Ready`, `Reconciling` and `Stalled` follow kstatus: at most one of them is true, and
 * none of a module that is disabled.
 */
export function conditionsOf(facts: ModuleFacts): readonly Condition[] {
  const all = [
    enabled(facts),
    ready(facts),
    reconciling(facts),
    drifted(facts),
    stalled(facts),
    ...updatePending(facts),
  ];
  return all.map((condition) => ({
    ...condition,
    message: condition.type === 'Ready' ? headline(condition.message) : bounded(condition.message),
  }));
}

/**
 * The last column of `kubectl get modules`. kubectl ends a cell at the first line end, and programs print the
 * reason for their failure last.
 */
function headline(sentence: string): string {
  const line = oneLine(headlineOf(sentence));
  if (line.length <= MAX_HEADLINE_LENGTH) return line;
  return `${line.slice(0, HEADLINE_START)} … ${line.slice(-(MAX_HEADLINE_LENGTH - HEADLINE_START - 3))}`;
}

/** A text that fits into a status. */
export function bounded(sentence: string): string {
  return sentence.length <= MAX_MESSAGE_LENGTH ? sentence : `${sentence.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}

/** A disabled module ignores obstacles that concern all modules. */
function causeOf({ explanation: { status, causes } }: ModuleFacts): Cause | undefined {
  return status === 'disabled' ? causes.find(({ node }) => node === 'requirements') : causes[0];
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

function ready(facts: ModuleFacts): Condition {
  const { status, failure, pause, reason } = facts.explanation;
  const says = (value: Condition['status'], because: string, message: string): Condition => ({
    type: 'Ready',
    status: value,
    reason: because,
    message,
  });
  const cause = causeOf(facts);
  if (cause !== undefined) {
    // It was ready, and the cause ends by itself: whether it will be ready again is not known yet.
    const isOpen = (status === 'ready' || status === 'held-up') && !cause.isStalled;
    return says(isOpen ? 'Unknown' : 'False', cause.reason, cause.text);
  }
  switch (status) {
    case 'undecided':
      return says('Unknown', 'NotDecided', reason);
    case 'disabled':
      return says('False', 'Disabled', `The module is disabled: ${reason}`);
    case 'deleting':
      return says(
        'False',
        'Deleting',
        failure === null ? 'The module is disabled and being deleted' : failureMessage(failure),
      );
    case 'paused':
      if (pause?.handedOverTo !== undefined)
        return says('Unknown', 'HandedOver', `The module is ${pause.reason}`);
      return says('True', 'Paused', `Paused${endOf(pause?.until)}: ${pause?.reason ?? ''}`);
    case 'ready':
      if (facts.progress !== 'none') return says('Unknown', 'Progressing', runText(facts));
      return settled(facts);
    case 'starting':
    // Those always have a cause.
    case 'held-up':
    case 'failing':
    case 'isolated':
    case 'held':
    case 'unauthorized':
      return says('False', 'Progressing', startText(facts));
  }
}

/** Ready; what others changed is known, and left as it is. */
function settled({ explanation: { drift } }: ModuleFacts): Condition {
  const [first, ...others] = drift?.objects ?? [];
  const base = { type: 'Ready', status: 'True' } as const;
  if (first === undefined) return { ...base, reason: 'Succeeded', message: 'The last run succeeded' };
  const more = others.length === 0 ? '' : ` and ${others.length} more objects`;
  const message = `The last run succeeded; others changed ${first.resource}${more}, ${first.outlook}`;
  return { ...base, reason: 'Drifted', message };
}

function runText({ progress }: ModuleFacts): string {
  return progress === 'running' ? 'The module is running' : 'A run after a change is queued';
}

/** Only what stays the same while others run in front of it: the text is stored. */
function startText({ progress, explanation: { waits = [] } }: ModuleFacts): string {
  if (progress === 'running' || waits.length === 0) return 'The module is running';
  const lasting = waits.find(({ type }) => type !== 'queue');
  return lasting === undefined ? 'The module is queued' : `The module waits for ${lasting.text}`;
}

function endOf(until: string | null | undefined): string {
  return typeof until === 'string' ? ` until ${until}` : '';
}

function reconciling(facts: ModuleFacts): Condition {
  const { status } = facts.explanation;
  const says = (isSo: boolean, reason: string, message: string): Condition => ({
    type: 'Reconciling',
    status: isSo ? 'True' : 'False',
    reason,
    message,
  });
  const cause = causeOf(facts);
  if (cause?.isStalled === true) return says(false, cause.reason, 'It waits until the obstacle is removed');
  if (cause !== undefined) return says(true, cause.reason, cause.text);
  if (status === 'deleting') return says(true, 'Deleting', 'The module is being deleted');
  if (status === 'disabled' || status === 'paused') return says(false, 'Idle', 'Nothing to do');
  if (status === 'ready' && facts.progress === 'none') return says(false, 'Idle', 'Nothing to do');
  return says(true, 'Running', 'The module is running or queued');
}

function drifted({ explanation: { drift } }: ModuleFacts): Condition {
  if (drift === null)
    return { type: 'Drifted', status: 'Unknown', reason: 'NotWatched', message: NOT_WATCHED };
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

function stalled(facts: ModuleFacts): Condition {
  const cause = causeOf(facts);
  return cause?.isStalled === true
    ? { type: 'Stalled', status: 'True', reason: cause.reason, message: cause.text }
    : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'The module is not stalled' };
}

function updatePending({ explanation: { update } }: ModuleFacts): readonly Condition[] {
  if (update === undefined) return [];
  const { version, reason, message } = update;
  const text = `${version === null ? '' : `${version}: `}${message}`;
  return [{ type: 'UpdatePending', status: 'True', reason, message: text }];
}

const NOT_WATCHED =
  'The objects are not watched: what others change stays, and what they delete is noticed within about five minutes';

/** `config-map` → `ConfigMap`. */
function camelCase(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/u)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}
