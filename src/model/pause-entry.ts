import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { isObject } from '@addon-operator/json';
import type { ConfigMapRef } from '@addon-operator/kube-client/config-map-object';
import type { InstanceSettings } from '../settings/config-map-settings.ts';

/** The ConfigMap of pauses and hand-overs. */
export function pausesRef(settings: InstanceSettings): ConfigMapRef {
  return { namespace: settings.namespace, name: `${settings.configMapName}-pauses` };
}

/** A module, or all of them, is paused on request of a user. */
export interface Pause {
  readonly reason: string;
  /** Milliseconds since the epoch, as is `untilMs`. */
  readonly sinceMs: number;
  /** Undefined: until it is resumed. */
  readonly untilMs: number | undefined;
  /** The module is handed over to `addon-operator dev` of this user; absent where it is only paused. */
  readonly handedOverTo?: string;
  /** It is wanted back from there, where what runs of it ends first. */
  readonly isTakenBack?: true;
}

/** What an entry of the ConfigMap says. */
export type PauseEntry =
  | { readonly type: 'pause'; readonly pause: Pause }
  /** `pause`: what an entry counts as if nothing better is known, since a user requested one. */
  | { readonly type: 'invalid'; readonly problem: string; readonly pause: Pause };

export function formatPause({ reason, sinceMs, untilMs }: Pause): string {
  const since = isoTime(sinceMs);
  return JSON.stringify({
    reason,
    since,
    ...(untilMs !== undefined && { until: isoTime(untilMs) }),
  });
}

/** A text that is no JSON object is a reason. */
export function parsePause(text: string): PauseEntry {
  const unread: Pause = { reason: text, sinceMs: 0, untilMs: undefined };
  if (!text.trimStart().startsWith('{')) return { type: 'pause', pause: unread };
  const value = parsed(text);
  if (!isObject(value)) return { type: 'invalid', problem: 'it is not a JSON object', pause: unread };
  const { reason, since, until } = value;
  if (typeof reason !== 'string' || reason === '')
    return { type: 'invalid', problem: 'it has no "reason"', pause: unread };
  // `explain module -o json` says null where a pause has no end.
  const isOpen = until === undefined || until === null;
  const untilMs = isOpen ? undefined : timeOf(until);
  const pause = { reason, sinceMs: timeOf(since) ?? 0, untilMs };
  if (isOpen || untilMs !== undefined) return { type: 'pause', pause };
  const problem = '"until" is not a time such as 2030-05-31T18:00:00Z';
  return { type: 'invalid', problem, pause };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
