/**
 * Builds the status of a Module object from the facts about a module: pure, apart from the time it is given. The controller
 * (`module-objects.ts`) and the reconcile webhooks (`hooked-modules.ts`) call it. Fields that the operator does not know
 * yet keep their value from the cluster, so a restart of the operator changes no status.
 */

import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { isObject } from '@addon-operator/json';
import { kubeTime } from './kube-time.ts';
import { isSameBlock } from './module-causes.ts';
import { bounded, type Condition, conditionsOf } from './module-conditions.ts';
import type { ModulePhase } from './module-explanation.ts';
import { MAX_HOOK_RUNS, type ModuleFacts, type ReleaseFacts } from './module-facts.ts';

/** Conditions that are known before the first discovery; the others keep their value from the cluster. */
const KNOWN_AT_ONCE: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

/** Fields that it does not know then. */
const UNKNOWN_AT_FIRST = ['phase', 'enablement', 'lastRun', 'hookRuns'] as const;

/** A condition of an object; times are RFC 3339 in UTC. */
export interface DatedCondition extends Condition {
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** The status fields that the operator writes into a Module object. A field without a value is absent. */
export interface ModuleStatusFields {
  readonly observedGeneration: number;
  readonly operator: string;
  readonly phase?: ModulePhase;
  readonly enablement: { readonly enabled: boolean; readonly source?: string; readonly reason: string };
  readonly version?: string;
  readonly description?: string;
  readonly stage?: string;
  readonly release?: { readonly name: string; readonly revision: number; readonly digest?: string };
  readonly lastError?: string;
  readonly failedAttempts?: number;
  readonly nextRetry?: string;
  readonly lastReconcileTime?: string;
  readonly lastRun?: { readonly startedAt: string; readonly durationMs: number; readonly result: string };
  readonly hookRuns?: readonly HookRunStatus[];
  readonly conditions: readonly DatedCondition[];
}

export interface HookRunStatus {
  readonly hook: string;
  readonly binding: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: 'success' | 'failure';
  readonly error?: string;
}

/** The context of a status: time, owner, generation, and the previous status. */
export interface StatusContext {
  readonly nowMs: number;
  /** Namespace and ConfigMap of the operator. */
  readonly operator: string;
  readonly generation: number;
  /** The status as it is in the cluster, with fields of all clients. */
  readonly before: unknown;
}

/**
 * The status of a module. What the daemon does not know yet, such as the release right after its start, and the times of
 * conditions that did not change, stay as they were.
 */
export function moduleStatus(facts: ModuleFacts, context: StatusContext): ModuleStatusFields {
  const { explanation, hookRuns, reconciledAtMs } = facts;
  const { phase, isEnabled, source, reason, version, failure, lastRun, about } = explanation;
  const before = isObject(context.before) ? context.before : {};
  const release = releaseOf(facts, before['release']);
  const lastReconcileTime =
    reconciledAtMs === undefined ? stringOf(before['lastReconcileTime']) : isoTime(reconciledAtMs);
  return {
    observedGeneration: context.generation,
    operator: context.operator,
    ...(phase !== null && { phase }),
    enablement: { enabled: isEnabled, ...(source !== null && { source }), reason: bounded(reason) },
    ...(version !== null && { version }),
    ...(about?.description !== undefined && { description: bounded(about.description) }),
    ...(about?.stage !== undefined && { stage: bounded(about.stage) }),
    ...(release !== undefined && { release }),
    ...(failure !== null && { lastError: bounded(failure.error), failedAttempts: failure.attempts }),
    ...(failure?.nextAttemptAt && { nextRetry: failure.nextAttemptAt }),
    ...(lastReconcileTime !== undefined && { lastReconcileTime }),
    ...(lastRun !== null && { lastRun: { ...lastRun, durationMs: Math.round(lastRun.durationMs) } }),
    ...(hookRuns.length > 0 && { hookRuns: hookRuns.slice(0, MAX_HOOK_RUNS).map(hookRunStatus) }),
    conditions: dated(conditionsOf(facts), before['conditions'], context),
  };
}

/**
 * The status of a module before the first discovery of a new daemon: nothing has changed yet, so that the status in the cluster
 * stays, except for what is in the way of the discovery. Undefined if nothing is.
 */
export function statusUntilDecided(
  facts: ModuleFacts,
  context: StatusContext & { readonly before: Fields },
): ModuleStatusFields | undefined {
  if (facts.explanation.causes.length === 0) return undefined;
  const { before } = context;
  // `Ready` is not true any more.
  const isKept = (field: string): boolean => before[field] !== undefined && before[field] !== 'Succeeded';
  const kept = UNKNOWN_AT_FIRST.filter(isKept).map((field) => [field, before[field]]);
  const now = moduleStatus(facts, context);
  const old = (Array.isArray(before['conditions']) ? before['conditions'] : []).filter(isObject);
  const conditions = now.conditions.map(
    (condition) =>
      (KNOWN_AT_ONCE.has(condition.type) ? undefined : old.find(({ type }) => type === condition.type)) ??
      condition,
  );
  // What is kept was written as such a status.
  return { ...now, ...Object.fromEntries(kept), conditions } as ModuleStatusFields;
}

type Fields = Readonly<Record<string, unknown>>;

function releaseOf(
  { explanation: { module, status }, release }: ModuleFacts,
  before: unknown,
): ModuleStatusFields['release'] {
  if (status === 'disabled') return undefined;
  const known = release ?? releaseBefore(before);
  if (known === undefined) return undefined;
  const { revision, digest } = known;
  return { name: module, revision, ...(digest !== undefined && { digest }) };
}

function releaseBefore(before: unknown): ReleaseFacts | undefined {
  if (!isObject(before) || typeof before['revision'] !== 'number') return undefined;
  return { revision: before['revision'], digest: stringOf(before['digest']) };
}

function hookRunStatus({ error, startedAtMs, ...run }: ModuleFacts['hookRuns'][number]): HookRunStatus {
  const times = { startedAt: isoTime(startedAtMs), durationMs: Math.round(run.durationMs) };
  const { hook, binding } = run;
  return error === undefined
    ? { hook, binding, ...times, result: 'success' }
    : { hook, binding, ...times, result: 'failure', error: bounded(error) };
}

function dated(
  conditions: readonly Condition[],
  before: unknown,
  { nowMs, generation }: StatusContext,
): readonly DatedCondition[] {
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  const now = kubeTime(nowMs);
  return conditions.map((condition) => {
    // `lastTransitionTime` changes only with `status`, as the API conventions require; reason and message may change.
    const same = known.find(
      (other) => isObject(other) && other['type'] === condition.type && other['status'] === condition.status,
    );
    const since = isObject(same) ? stringOf(same['lastTransitionTime']) : undefined;
    const message = messageOf(condition, isObject(same) ? same : {});
    return { ...condition, message, lastTransitionTime: since ?? now, observedGeneration: generation };
  });
}

/** Keeps the old message if only numbers in an error differ: all modules behind a blocked queue have the same message. */
function messageOf({ reason, message }: Condition, before: Fields): string {
  const old = stringOf(before['message']);
  if (reason !== 'QueueBlocked' || before['reason'] !== reason || old === undefined) return message;
  return isSameBlock(old, message) ? old : message;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
