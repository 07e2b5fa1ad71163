import { isObject } from '@addon-operator/json';
import { parsePointer } from '@addon-operator/json/pointer';
import { refuseUnknown } from '@addon-operator/json/unknown-keys';

const DRIFT_MODES = ['off', 'warn', 'heal'] as const;

/** Reaction to changes of a release's objects by other clients: none, a report, or healing. */
export type DriftMode = (typeof DRIFT_MODES)[number];

/** A field that may differ. Without `kind` and `name` in every object of the release. */
export interface IgnoreRule {
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /** Unescaped parts of a JSON pointer; `*` matches each item of a list, or each key of a map. */
  readonly path: readonly string[];
}

/** What a module wishes about drift. */
export interface DriftPolicy {
  /** Undefined: the operator's settings. */
  readonly mode: DriftMode | undefined;
  readonly ignore: readonly IgnoreRule[];
}

export const NO_DRIFT_POLICY: DriftPolicy = { mode: undefined, ignore: [] };

const KEYS = ['mode', 'ignore'];
const RULE_KEYS = ['kind', 'name', 'pointer'];

/** Reads the section `drift` of a `module.yaml`; what is wrong with it is added to `problems`, each with its path. */
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
  for (const [key, text] of Object.entries({ kind, name }))
    if (text !== undefined && typeof text !== 'string') problems.push(`${at}.${key}: expected a string`);
  if (path === undefined) return [];
  return [
    {
      kind: typeof kind === 'string' ? kind : undefined,
      name: typeof name === 'string' ? name : undefined,
      path,
    },
  ];
}

/** What is remembered of an object that was healed. */
export interface HealStreak {
  /** How often it was healed without a long pause between. */
  readonly heals: number;
  readonly lastAtMs: number;
}

/** As many times a change is undone at once. */
const HEALS_AT_ONCE = 3;
const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 3_600_000;
/** An object that stays as it is for this long after it could have been healed again is at peace. */
const PEACE_MS = 600_000;

/** When an object may be healed, on the steady clock: at once, with growing delays if another client keeps changing it. */
export function nextHealAtMs(streak: HealStreak | undefined): number {
  return streak === undefined ? Number.NEGATIVE_INFINITY : streak.lastAtMs + delayMs(streak.heals);
}

/** The streak after a heal. */
export function withHeal(streak: HealStreak | undefined, nowMs: number): HealStreak {
  const isOver = streak === undefined || nowMs - nextHealAtMs(streak) >= PEACE_MS;
  return { heals: isOver ? 1 : streak.heals + 1, lastAtMs: nowMs };
}

function delayMs(heals: number): number {
  if (heals < HEALS_AT_ONCE) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (heals - HEALS_AT_ONCE));
}

/** An object that is not as helm applied it. */
export interface DriftedObject {
  /** `<namespace>/<Kind>/<name>`, the namespace as the manifest has it. */
  readonly resource: string;
  /** JSON pointers into the object in the cluster, sorted. */
  readonly fields: readonly string[];
  /** Field managers that changed it, the last one first; may be empty. */
  readonly changedBy: readonly string[];
  /** When it was noticed, in ms since the epoch. */
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

/** An object that could not be compared with what helm applied, and will not be before it changes again or can be watched. */
export interface UncomparedObject {
  /** `<namespace>/<Kind>/<name>`. */
  readonly resource: string;
  readonly error: string;
}

/** What is worth counting. */
export type DriftEvent = {
  readonly type: 'drifted' | 'healed';
  readonly module: string;
  readonly resource: string;
};
