/**
 * The configuration of a hook as the rest of the operator sees it: one type for all formats and all kinds of hooks,
 * validated, with defaults filled in and durations in milliseconds. The binding kinds are declared here.
 */

import type { TokenBucketOptions } from '@addon-operator/concurrency/token-bucket';
import type { DeployBinding } from '@addon-operator/sdk';
import type { AdmissionBinding, AdmissionType } from './admission-binding.ts';
import type { ConversionBinding } from './conversion-binding.ts';
import type { KubernetesBindingSpec } from './kubernetes-binding.ts';

/** Whose hook it is decides which lifecycle bindings it may have. */
export type HookScope = 'global' | 'module';

/** The format of a configuration and of the binding contexts that go with it; v0 has no `configVersion`. */
export type ConfigVersion = 'v0' | 'v1';

export const GLOBAL_LIFECYCLE_BINDINGS = ['onStartup', 'beforeAll', 'afterAll'] as const;
export const MODULE_LIFECYCLE_BINDINGS = [
  'onStartup',
  'beforeHelm',
  'afterHelm',
  'beforeDeleteHelm',
  'afterDeleteHelm',
] as const;

/** Lifecycle bindings: a hook names the order in which it runs among the hooks of the same binding. */
export type LifecycleBinding =
  | (typeof GLOBAL_LIFECYCLE_BINDINGS)[number]
  | (typeof MODULE_LIFECYCLE_BINDINGS)[number];

export type BindingType =
  | LifecycleBinding
  | DeployBinding
  | 'schedule'
  | 'kubernetes'
  | AdmissionType
  | 'kubernetesCustomResourceConversion';

/** Fields of every binding with a queue. */
interface QueuedBinding {
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

export interface ScheduleBinding extends QueuedBinding {
  readonly type: 'schedule';
  readonly crontab: string;
}

export interface KubernetesBinding extends QueuedBinding {
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

/** The configuration that a hook prints for `--config`, validated and with all defaults. */
export interface HookConfig {
  readonly version: ConfigVersion;
  /** Order numbers of the lifecycle and deploy bindings the hook has. */
  readonly lifecycle: Readonly<Partial<Record<LifecycleBinding | DeployBinding, number>>>;
  readonly schedule: readonly ScheduleBinding[];
  readonly kubernetes: readonly KubernetesBinding[];
  /** Validating bindings first. */
  readonly admission: readonly AdmissionBinding[];
  readonly conversion: readonly ConversionBinding[];
  readonly settings: HookSettings;
}
