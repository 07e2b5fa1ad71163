// Pauses before retries of requests to the API server, and two loops that keep them. The back-off is that of
// client-go's reflector (0.8 s doubled up to 30 s); jitter only shortens it, since 30 s is documented as the
// longest pause. A Retry-After of the server is kept up to a limit: a proxy may send one of hours.

import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { KubeApiError } from './kube-client.ts';

const INITIAL_DELAY_MS = 800;
const MAX_DELAY_MS = 30_000;
/** Delays are shortened by up to this share, never lengthened: the maximum is a promise. */
const JITTER = 0.2;

/** A proxy in front of the API server may send a Retry-After header, for a maintenance that has long ended. */
const MAX_RETRY_AFTER_SECONDS = 30;
/** For a 429 with a Status: the API server itself throttles this client. */
const MAX_THROTTLE_SECONDS = 60;
/** The part of a requested pause that is kept even if other requests succeed in the meantime. */
const KEPT_ANYWAY_SECONDS = 5;

/** The longest pause that a refusal can lead to. */
export function retryAfterLimitSeconds({ status, reason }: Pick<KubeApiError, 'status' | 'reason'>): number {
  return status === 429 && reason !== '' ? MAX_THROTTLE_SECONDS : MAX_RETRY_AFTER_SECONDS;
}

/**
 * Pause before a reflector retries a request, in whole milliseconds: 0.8 s after the first failure, doubled by each
 * further one up to 30 s, less up to a fifth of jitter; not shorter than the server requested, up to the limit.
 *
 * @param failures failures in a row, the one being handled included; at least 1
 * @param retryAfterSeconds the Retry-After header, if there is one
 * @param random a number in [0, 1)
 * @param limitSeconds see {@link retryAfterLimitSeconds}
 */
export function reconnectDelayMs(
  failures: number,
  retryAfterSeconds: number | undefined,
  random: () => number,
  limitSeconds: number = MAX_RETRY_AFTER_SECONDS,
): number {
  const fullMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (failures - 1));
  const delayMs = Math.round(fullMs * (1 - JITTER * random()));
  if (retryAfterSeconds === undefined) return delayMs;
  return Math.max(delayMs, requestedDelayMs(retryAfterSeconds, limitSeconds, random));
}

/** A requested pause, longer by up to a fifth of jitter, but never longer than the limit; in whole milliseconds. */
export function requestedDelayMs(
  retryAfterSeconds: number,
  limitSeconds: number,
  random: () => number,
): number {
  return Math.round(Math.min(limitSeconds, retryAfterSeconds * (1 + JITTER * random())) * 1_000);
}

/** A pause before a retry. */
export interface RetryPause {
  readonly delayMs: number;
  /** How long it lasts even if another request succeeds in the meantime. */
  readonly minimumMs: number;
}

/** The pause of {@link reconnectDelayMs} after an error. */
export function reconnectPause(failures: number, error: unknown, random: () => number): RetryPause {
  const delayOf = (seconds?: number, limit?: number): number =>
    reconnectDelayMs(failures, seconds, random, limit);
  if (!(error instanceof KubeApiError) || error.retryAfterSeconds === undefined) {
    const delayMs = delayOf();
    return { delayMs, minimumMs: delayMs };
  }
  const delayMs = delayOf(error.retryAfterSeconds, retryAfterLimitSeconds(error));
  return { delayMs, minimumMs: Math.min(delayMs, delayOf(error.retryAfterSeconds, KEPT_ANYWAY_SECONDS)) };
}

interface UntilDoneDeps {
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * Retries until it succeeds, with the pauses of {@link reconnectDelayMs} after each failure: 0.8 s growing to 30 s.
 *
 * @param onFailure called with each failure and the following pause in milliseconds; what it throws ends the attempts
 * @throws what `onFailure` throws; `signal.reason` when the signal aborts
 */
export async function untilDone<T>(
  attempt: () => Promise<T>,
  onFailure: (error: unknown, delayMs: number) => void,
  { clock, random }: UntilDoneDeps,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = reconnectDelayMs(failures, undefined, random);
      onFailure(error, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}

/** The dependencies of {@link untilAvailable}. */
export interface RetryHost extends UntilDoneDeps {
  readonly log: Logger;
}

/**
 * Repeats a request until the API server responds: while it is unreachable or refuses, with pauses of 0.8 s growing to 30 s. The
 * daemon stays up and not ready.
 *
 * @param what is requested, for the log
 * @throws any error of `attempt` that is not about the API server; `signal.reason` when the signal aborts
 */
export function untilAvailable<T>(
  what: string,
  attempt: () => Promise<T>,
  { clock, log, random }: RetryHost,
  signal: AbortSignal,
): Promise<T> {
  const onFailure = (error: unknown, delayMs: number): void => {
    if (!hasCode(error, 'KUBE_UNREACHABLE') && !hasCode(error, 'KUBE_API')) throw error;
    log.warn({ error, delayMs, wanted: what }, 'waiting for the API server: it does not respond yet');
  };
  return untilDone(attempt, onFailure, { clock, random }, signal);
}
