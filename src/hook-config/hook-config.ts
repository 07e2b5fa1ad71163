/**
 * The configuration of a hook as the rest of the operator sees it: one type for all formats and all kinds of hooks,
 * validated, with defaults filled in and durations in milliseconds. The binding kinds are declared here.
 */

import type { TokenBucketOptions } from '@addon-operator/concurrency/token-bucket';
import type { AdmissionBinding } from './admission-binding.ts';
import {
  type BindingKind,
  LIST_KINDS,
  type ListKind,
  QUEUED_KINDS,
  type QueuedKind,
  type SectionOf,
} from './binding-kinds.ts';
import type { ConversionBinding } from './conversion-binding.ts';
import type { KubernetesBindingSpec } from './kubernetes-binding.ts';

/** The format of a configuration and of the binding contexts that go with it; v0 has no `configVersion`. */
export type ConfigVersion = 'v0' | 'v1';

interface InQueue {
  readonly name: string;
  readonly allowFailure: boolean;
  readonly queue: string;
  /** Undefined for one queue for all events. */
  readonly keyed?: KeyedQueue;
  readonly group?: string;
  /**
   * Positions in {@link HookConfig.kubernetes} of the bindings whose snapshots go into the context: those of
   * `includeSnapshotsFrom`, then those of the group, without repetition.
   */
  readonly snapshotsFrom: readonly number[];
}

/** A queue for each key. */
export interface KeyedQueue {
  /** Of events; the key of a schedule is its name. */
  readonly key: QueueKey;
  /** How many keys run at a time. */
  readonly parallel: number;
}

export type QueueKey =
  | { readonly type: 'object' }
  | { readonly type: 'namespace' }
  | { readonly type: 'path'; readonly steps: readonly (string | number)[] };

export interface ScheduleBinding extends InQueue {
  readonly type: 'schedule';
  readonly crontab: string;
}

export interface KubernetesBinding extends InQueue {
  readonly type: 'kubernetes';
  /** Position in {@link HookConfig.kubernetes}. */
  readonly index: number;
  readonly watch: KubernetesBindingSpec;
  readonly executeOnSynchronization: boolean;
  readonly waitForSynchronization: boolean;
  /** The run for an event is queued when none has come for a time. */
  readonly debounce?: Debounce;
  /** Which of the waiting events of an object are kept; default all. */
  readonly coalesce?: 'object';
}

export interface Debounce {
  /** Since the last event. */
  readonly afterMs: number;
  /** Since the first event. */
  readonly maxMs: number;
}

export interface HookSettings {
  /** Token bucket over all runs of the hook: one token every `intervalMs`, at most `burst` saved. */
  readonly rateLimit?: TokenBucketOptions;
  /** Time limit of one run in milliseconds. */
  readonly timeoutMs?: number;
  /** Whether a change of its file ends a run in progress, and has the task run again. */
  readonly restartOnChange?: boolean;
  /** Exit codes of an executable. */
  readonly exitCodes?: OutcomeCodes;
  /** Statuses of the response of an HTTP hook. */
  readonly statusCodes?: OutcomeCodes;
  readonly retry?: RetryLimits;
}

/** The meaning of codes of a run that did not succeed; a run with any other code failed, and is retried. */
export interface OutcomeCodes {
  /** Not yet time: the run is repeated after a while. */
  readonly temporary: readonly number[];
  /** A retry is useless. */
  readonly permanent: readonly number[];
}

/** Without a limit a failed run is retried for ever. */
export interface RetryLimits {
  /** Retries after the first attempt. */
  readonly max?: number;
  /** After the first failure. */
  readonly withinMs?: number;
  readonly onExhausted: 'fail' | 'drop';
}

/** A binding of each kind that has a list. */
interface ListBindings {
  readonly schedule: ScheduleBinding;
  readonly kubernetes: KubernetesBinding;
  readonly admission: AdmissionBinding;
  readonly conversion: ConversionBinding;
}

/** A binding with a name of its own. */
export type NamedBinding = ListBindings[ListKind];

/** A binding that names a queue. */
export type QueuedBinding = ListBindings[QueuedKind];

/** Of admission bindings the validating ones come first. */
type BindingLists = { readonly [K in ListKind]: readonly ListBindings[K][] };

/** The configuration that a hook prints for `--config`, validated and with all defaults. */
export interface HookConfig extends BindingLists {
  readonly version: ConfigVersion;
  /** Order numbers of the lifecycle and deploy bindings the hook has. */
  readonly lifecycle: Readonly<Partial<Record<SectionOf<Exclude<BindingKind, ListKind>>, number>>>;
  readonly settings: HookSettings;
}

/** The configuration of a hook that never runs by itself. */
export const NO_BINDINGS: HookConfig = {
  version: 'v1',
  lifecycle: {},
  ...(Object.fromEntries(LIST_KINDS.map((kind) => [kind, []])) as unknown as BindingLists),
  settings: {},
};

/** All bindings of a hook that have a name of their own, by kind. */
export function namedBindings(config: HookConfig): readonly NamedBinding[] {
  return LIST_KINDS.flatMap((kind): readonly NamedBinding[] => config[kind]);
}

/** Those that name a queue. */
export function queuedBindings(config: Pick<HookConfig, QueuedKind>): readonly QueuedBinding[] {
  return QUEUED_KINDS.flatMap((kind): readonly QueuedBinding[] => config[kind]);
}
