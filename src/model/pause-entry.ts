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
  /** The module is held after a rollback, as long as its files have this digest; absent for other pauses. */
  readonly files?: string;
  /** The module is handed over to `addon-operator dev` of this user; absent where it is only paused. */
  readonly handedOverTo?: string;
  /** This operator wants it back: the holder first ends its running tasks. */
  readonly isTakenBack?: true;
}

/** A parsed entry of the ConfigMap. */
export type PauseEntry =
  | { readonly type: 'pause'; readonly pause: Pause }
  /**
   * `pause`: the pause that the entry counts as while no older version is known, since a user
   * requested one.
   */
  | { readonly type: 'invalid'; readonly problem: string; readonly pause: Pause };

export function formatPause({ reason, sinceMs, untilMs, files }: Pause): string {
  const since = isoTime(sinceMs);
  return JSON.stringify({
    reason,
    since,
    ...(untilMs !== undefined && { until: isoTime(untilMs) }),
    ...(files !== undefined && { files }),
  });
}

/** Parses an entry; a string that is no JSON object is the reason of a pause without an end. */
export function parsePause(content: string): PauseEntry {
  const unread: Pause = { reason: content, sinceMs: 0, untilMs: undefined };
  if (!content.trimStart().startsWith('{')) return { type: 'pause', pause: unread };
  const value = parsed(content);
  if (!isObject(value)) return { type: 'invalid', problem: 'it is not a JSON object', pause: unread };
  const { reason, since, until, files } = value;
  if (typeof reason !== 'string' || reason === '')
    return { type: 'invalid', problem: 'it has no "reason"', pause: unread };
  // `explain module -o json` says null where a pause has no end.
  const isOpen = until === undefined || until === null;
  const untilMs = isOpen ? undefined : timeOf(until);
  const pause = {
    reason,
    sinceMs: timeOf(since) ?? 0,
    untilMs,
    ...(typeof files === 'string' && { files }),
  };
  if (isOpen || untilMs !== undefined) return { type: 'pause', pause };
  const problem = '"until" is not a time such as 2030-05-31T18:00:00Z';
  return { type: 'invalid', problem, pause };
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
