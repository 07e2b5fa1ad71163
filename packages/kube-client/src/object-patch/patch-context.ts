import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { hasStatus, KubeApiError, type KubeClient } from '../kube-client.ts';
import { type ApiResource, apiVersionOf } from '../kube-object.ts';
import type { ResourceAccess } from '../policy-rules.ts';
import type { ObjectTarget } from './patch-operation.ts';

/** The part of a jq engine that JQPatch needs. */
interface JqCompiler {
  compile(
    program: string,
    signal: AbortSignal,
  ): Promise<{ apply(input: unknown, signal: AbortSignal): Promise<readonly unknown[]> }>;
}

/** The dependencies of the operations. */
export interface PatchContext {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string | undefined, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  readonly jq: JqCompiler;
  readonly clock: SteadyClock;
  /** Numbers in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Called before each operation, for a kind that the cluster has, with the access that it may need. Optional. */
  readonly onAccess?: (access: ResourceAccess) => void;
}

/** Whether the server carried out a write that ended so is unknown. */
export function isOutcomeUnknown(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNREACHABLE') || hasStatus(error, 504);
}

/** The object was changed by another client between reading and writing it. */
export function isConflict(error: unknown): boolean {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists';
}

/** An object of this name exists already. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof KubeApiError && error.reason === 'AlreadyExists';
}

/**
 * Says in the log that a 404 does not mean a missing object: a namespaced kind was addressed without a namespace, or
 * a cluster-scoped kind with one, and the server has no such path.
 */
export function warnOfWrongScope(log: Logger, resource: ApiResource, target: ObjectTarget): void {
  if (resource.isNamespaced === (target.namespace !== '')) return;
  log.warn(
    {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      name: target.name,
      namespace: target.namespace,
    },
    resource.isNamespaced
      ? 'object patch names no namespace for a namespaced kind'
      : 'object patch names a namespace for a cluster-scoped kind',
  );
}

/** `lost`: another client was faster, or the result is not known; a new attempt must start from a fresh read. */
export type PatchAttempt<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'lost'; readonly error: unknown };

interface RetryDeps {
  readonly clock: SteadyClock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
}

/** Short at first: a conflict usually ends with the request of the other writer. */
const DELAYS_MS = [10, 50, 250, 1_000, 1_000];
const JITTER = 0.1;

/**
 * Repeats an attempt that lost a race, up to five times after 10 ms to 1 s with jitter; then throws the error of the
 * last one. What an attempt throws ends it at once.
 */
export async function retryLost<T>(
  { clock, random }: RetryDeps,
  signal: AbortSignal,
  attempt: () => Promise<PatchAttempt<T>>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const outcome = await attempt();
    if (outcome.type === 'done') return outcome.value;
    const delayMs = DELAYS_MS[tries];
    if (delayMs === undefined) throw outcome.error;
    await clock.sleep(delayMs * (1 + JITTER * random()), signal);
  }
}
