/**
 * Outcomes of a run other than success and failure: temporary (repeat after a time that the hook names) and permanent (do
 * not repeat). Executables report them with exit codes and a file, HTTP hooks with status codes and `Retry-After`, scripts
 * by throwing errors of the SDK.
 */

import { type ErrorFacts, hasCode, OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { type Hook, title } from './hook.ts';

/** When a run is repeated that names no time. */
const DEFAULT_AFTER_MS = 10_000;
const MIN_AFTER_MS = 1_000;
const MAX_AFTER_MS = 60 * 60_000;
const SECONDS = /^\d{1,9}$/;

/** The retry time and reason of a run that is not done yet. */
export interface NotYet {
  /** Undefined where it names no time. */
  readonly afterMs: number | undefined;
  readonly reason: string;
}

/** The error of a run for which it is not yet time. */
export function temporaryError(hook: Hook, { afterMs, reason }: NotYet, facts?: ErrorFacts): OperatorError {
  return new OperatorError('HOOK_TEMPORARY', `${title(hook)} is not done yet: ${reason}`, {
    retryAfterMs: Math.min(Math.max(MIN_AFTER_MS, afterMs ?? DEFAULT_AFTER_MS), MAX_AFTER_MS),
    ...(facts !== undefined && { facts }),
  });
}

/** The error of a run whose retry is useless. */
export function permanentError(hook: Hook, reason: string, facts?: ErrorFacts): OperatorError {
  return new OperatorError('HOOK_PERMANENT', `${title(hook)} failed permanently: ${reason}`, {
    isPermanent: true,
    ...(facts !== undefined && { facts }),
  });
}

/** Whether the error is that of a run for which it is not yet time. */
export function isNotYet(error: unknown): error is OperatorError & { readonly retryAfterMs: number } {
  return hasCode(error, 'HOOK_TEMPORARY') && error.retryAfterMs !== undefined;
}

/** Whether the error is that of a run that is not retried, because the hook says so or its retries are used up. */
export function isFinal(error: unknown): error is OperatorError {
  return hasCode(error, 'HOOK_PERMANENT') || hasCode(error, 'HOOK_RETRIES_EXHAUSTED');
}

/**
 * Milliseconds of a duration such as `30s`.
 *
 * @throws Error when it is none
 */
export function afterMsOf(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms < 0) throw new Error(`after: '${text}' is not a duration such as 30s or 1h30m`);
  return ms;
}

/**
 * Reads what an executable wrote about when and why to repeat its run; an empty text says nothing.
 *
 * @throws Error saying what is wrong with it
 */
export function parseRetryFile(text: string): Partial<NotYet> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  if (!isObject(value)) throw new Error('it is not a JSON object');
  const { after, reason, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new Error(`unknown field ${JSON.stringify(unknown)}; known: after, reason`);
  if (after !== undefined && typeof after !== 'string')
    throw new Error('after is not a string such as "30s"');
  if (reason !== undefined && typeof reason !== 'string') throw new Error('reason is not a string');
  return {
    ...(after !== undefined && { afterMs: afterMsOf(after) }),
    ...(reason !== undefined && { reason }),
  };
}

/** Milliseconds that the header `Retry-After` names: seconds or a date; undefined for anything else. */
export function retryAfterHeaderMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return Number(text) * 1_000;
  // Every form of date has letters; what else Date.parse reads is no date of HTTP.
  const dateMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
