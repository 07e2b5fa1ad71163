import type { DeployBinding } from './deploy-facts.ts';

/** Lifecycle bindings of global hooks and of module hooks; each takes the order in which the hook runs. */
export type LifecycleBinding =
  | 'onStartup'
  | 'beforeAll'
  | 'afterAll'
  | 'beforeHelm'
  | 'afterHelm'
  | 'beforeDeleteHelm'
  | 'afterDeleteHelm';

export interface NameSelector {
  readonly matchNames: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface FieldSelector {
  readonly matchExpressions: readonly {
    readonly field: string;
    readonly operator: '=' | '==' | 'Equals' | '!=' | 'NotEquals';
    readonly value: string;
  }[];
}

/** A queue for each key: runs of one key are one after another. */
export interface KeyedQueue {
  readonly name: string;
  /** `object` (default), `namespace`, or a path in the object, such as `.metadata.labels["app"]`. */
  readonly key?: string;
  /** How many keys run at a time; default 4. */
  readonly parallel?: number;
}

interface QueuedBinding {
  /** Default `schedule` or `kubernetes`. */
  readonly name?: string;
  readonly allowFailure?: boolean;
  /** Default `main`. As an object: a queue for each key. */
  readonly queue?: string | KeyedQueue;
  readonly group?: string;
  readonly includeSnapshotsFrom?: readonly string[];
}

export interface ScheduleBinding extends QueuedBinding {
  /** 5 or 6 crontab fields, or a word such as `@hourly` or `@every 5m`. */
  readonly crontab: string;
}

export type WatchEvent = 'Added' | 'Modified' | 'Deleted';

export interface KubernetesBinding extends QueuedBinding {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly watchEvent?: readonly WatchEvent[];
  readonly executeHookOnEvent?: readonly WatchEvent[];
  readonly executeHookOnSynchronization?: boolean;
  readonly waitForSynchronization?: boolean;
  readonly keepFullObjectsInMemory?: boolean;
  readonly jqFilter?: string;
  readonly resynchronizationPeriod?: string;
  /** Run the hook once for events in quick succession: when none has come for `after`, such as `2s`. */
  readonly debounce?: {
    readonly after: string;
    /** After the first event at the latest; default ten times `after`. */
    readonly max?: string;
  };
  /** `object`: of the events of an object that wait, only what leads to its last state is kept. Default `none`. */
  readonly coalesce?: 'none' | 'object';
  readonly nameSelector?: NameSelector;
  readonly labelSelector?: LabelSelector;
  readonly fieldSelector?: FieldSelector;
  readonly namespace?: { readonly nameSelector?: NameSelector; readonly labelSelector?: LabelSelector };
}

export interface AdmissionBinding {
  /** A domain with at least three segments, such as `policy.example.com`. */
  readonly name: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly resources: readonly string[];
    readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | '*')[];
    readonly scope?: 'Cluster' | 'Namespaced' | '*';
  }[];
  readonly failurePolicy?: 'Ignore' | 'Fail';
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  readonly timeoutSeconds?: number;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly labelSelector?: LabelSelector;
  readonly namespace?: { readonly labelSelector: LabelSelector };
  readonly group?: string;
  readonly includeSnapshotsFrom?: readonly string[];
}

export interface ConversionBinding {
  readonly name: string;
  /** `<plural>.<group>` */
  readonly crdName: string;
  readonly conversions: readonly { readonly fromVersion: string; readonly toVersion: string }[];
  readonly group?: string;
  readonly includeSnapshotsFrom?: readonly string[];
}

export interface HookSettings {
  readonly executionMinInterval?: string;
  readonly executionBurst?: number;
  /** Time limit of one run, such as `30s`. */
  readonly timeout?: string;
  /** End a run in progress when the file of the hook changes, and start it again. Default false. */
  readonly restartOnChange?: boolean;
  /** Of executable hooks; others throw `TemporaryError` and `PermanentError`, or respond with one of `statusCodes`. */
  readonly exitCodes?: OutcomeCodes;
  /** Of HTTP hooks. */
  readonly statusCodes?: OutcomeCodes;
  /** How often and how long a failed run is retried; without it for ever. */
  readonly retry?: RetryBudget;
}

/** Codes that say more about a run than that it failed; at least one list. */
export interface OutcomeCodes {
  /** Not yet time: the run is repeated after a while. */
  readonly temporary?: readonly number[];
  /** A retry is useless. */
  readonly permanent?: readonly number[];
}

/** At least one of `max` and `within`. */
export interface RetryBudget {
  /** Retries after the first attempt. */
  readonly max?: number;
  /** How long after the first failure a retry may begin, such as `2h`. */
  readonly within?: string;
  /** `fail`: a permanent failure; `drop`: runs for events and schedules are dropped with a warning. Default `fail`. */
  readonly onExhausted?: 'fail' | 'drop';
}

/** When a hook is run: what an executable hook returns for `--config`, version v1. */
export interface HookConfig extends Readonly<Partial<Record<LifecycleBinding | DeployBinding, number>>> {
  readonly configVersion?: 'v1';
  readonly schedule?: readonly ScheduleBinding[];
  readonly kubernetes?: readonly KubernetesBinding[];
  readonly kubernetesValidating?: readonly AdmissionBinding[];
  readonly kubernetesMutating?: readonly AdmissionBinding[];
  readonly kubernetesCustomResourceConversion?: readonly ConversionBinding[];
  readonly settings?: HookSettings;
}
