import { isObject } from '@addon-operator/json';
import { parsePointer } from '@addon-operator/json/pointer';
import { refuseUnknown } from '@addon-operator/json/unknown-keys';

const DRIFT_MODES = ['off', 'warn', 'heal'] as const;

/**
 * The reaction to changes of a release's objects by other clients: none, a report, or a correction.
 */
export type DriftMode = (typeof DRIFT_MODES)[number];

/** A field that may differ; without `kind` and `name` in every object of the release. */
export interface IgnoreRule {
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /**
   * The unescaped segments of a JSON pointer; `*` matches each item of a list, or each key of a
   * map.
   */
  readonly path: readonly string[];
}

/** The drift settings of a module. */
export interface DriftPolicy {
  /** Undefined: the operator's settings. */
  readonly mode: DriftMode | undefined;
  readonly ignore: readonly IgnoreRule[];
}

export const NO_DRIFT_POLICY: DriftPolicy = { mode: undefined, ignore: [] };

const KEYS = ['mode', 'ignore'];
const RULE_KEYS = ['kind', 'name', 'pointer'];

/**
 * Reads the section `drift` of a `module.yaml`; problems are added to `problems`, each with its
 * path.
 */
export function readDriftPolicy(value: unknown, problems: string[]): DriftPolicy {
  if (value === null || value === undefined) return NO_DRIFT_POLICY;
  if (!isObject(value)) {
    problems.push(`drift: expected a map with the keys ${KEYS.join(' and ')}`);
    return NO_DRIFT_POLICY;
  }
  refuseUnknown(value, KEYS, 'drift', problems);
  return { mode: readMode(value['mode'], problems), ignore: readRules(value['ignore'], problems) };
}

function readMode(value: unknown, problems: string[]): DriftMode | undefined {
  if (value === null || value === undefined) return undefined;
  const mode = DRIFT_MODES.find((known) => known === value);
  // `off` without quotes is a boolean in YAML 1.1.
  if (value === false) return 'off';
  if (mode === undefined)
    problems.push(`drift.mode: expected one of ${DRIFT_MODES.join(', ')}, got ${JSON.stringify(value)}`);
  return mode;
}

function readRules(value: unknown, problems: string[]): readonly IgnoreRule[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.push('drift.ignore: expected a list of JSON pointers');
    return [];
  }
  return value.flatMap((item: unknown, index) => readRule(item, `drift.ignore[${index}]`, problems));
}

function readRule(item: unknown, at: string, problems: string[]): readonly IgnoreRule[] {
  const rule = isObject(item) ? item : { pointer: item };
  refuseUnknown(rule, RULE_KEYS, at, problems);
  const { kind, name, pointer } = rule;
  const path = typeof pointer === 'string' ? parsePointer(pointer) : undefined;
  if (path === undefined)
    problems.push(
      `${at}: expected a JSON pointer such as /spec/replicas, or a map {kind, name, pointer}, got ${JSON.stringify(item)}`,
    );
  for (const [key, value] of Object.entries({ kind, name }))
    if (value !== undefined && typeof value !== 'string') problems.push(`${at}.${key}: expected a string`);
  if (path === undefined) return [];
  return [
    {
      kind: typeof kind === 'string' ? kind : undefined,
      name: typeof name === 'string' ? name : undefined,
      path,
    },
  ];
}

/** The recent corrections of an object. */
export interface HealStreak {
  /** The number of corrections without a long pause in between. */
  readonly heals: number;
  readonly lastAtMs: number;
}

/** The number of immediate corrections; further ones are delayed. */
const HEALS_AT_ONCE = 3;
const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 3_600_000;
/**
 * An object without drift for this long, after it could have been corrected, starts a new streak.
 */
const PEACE_MS = 600_000;

/**
 * The earliest time of the next correction, on the steady clock. The delay doubles from a minute to
 * an hour if another client keeps changing the object.
 */
export function nextHealAtMs(streak: HealStreak | undefined): number {
  return streak === undefined ? Number.NEGATIVE_INFINITY : streak.lastAtMs + delayMs(streak.heals);
}

/** The streak after a correction. */
export function withHeal(streak: HealStreak | undefined, nowMs: number): HealStreak {
  const isOver = streak === undefined || nowMs - nextHealAtMs(streak) >= PEACE_MS;
  return { heals: isOver ? 1 : streak.heals + 1, lastAtMs: nowMs };
}

function delayMs(heals: number): number {
  if (heals < HEALS_AT_ONCE) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (heals - HEALS_AT_ONCE));
}

/** An object that differs from what helm applied. */
export interface DriftedObject {
  /** `<namespace>/<Kind>/<name>`, with the namespace of the manifest. */
  readonly resource: string;
  /** JSON pointers into the object in the cluster, sorted. */
  readonly fields: readonly string[];
  /** Field managers that changed it, the last one first; may be empty. */
  readonly changedBy: readonly string[];
  /** When the drift was noticed, in milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly remedy: /** It is not changed back. */
    | { readonly type: 'none' }
    /** It is changed back when the module is no longer paused. */
    | { readonly type: 'held' }
    /** It was changed back too often lately: not before `dueMs` on the steady clock, which is `untilMs` on the wall clock. */
    | { readonly type: 'delayed'; readonly dueMs: number; readonly untilMs: number }
    /** The server refused the change: it is tried again then. */
    | { readonly type: 'refused'; readonly untilMs: number };
}

/** Drift of the objects of one module. */
export interface DriftReport {
  readonly mode: DriftMode;
  /** By resource. */
  readonly objects: readonly DriftedObject[];
  /** Objects that could not be compared, by resource; absent without any. */
  readonly uncompared?: readonly UncomparedObject[];
}

/**
 * An object that could not be compared. It is compared again after its next change, or when it can
 * be watched.
 */
export interface UncomparedObject {
  /** `<namespace>/<Kind>/<name>`. */
  readonly resource: string;
  readonly error: string;
}

/** The events that metrics count. */
export type DriftEvent = {
  readonly type: 'drifted' | 'healed';
  readonly module: string;
  readonly resource: string;
};
