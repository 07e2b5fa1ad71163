import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import type { ModuleFinalizers } from '../extensions/module-hooks/module-finalizers.ts';
import type { ModuleHttpHooks } from '../extensions/module-hooks/module-http-hooks.ts';
import type { ReleaseSteps, UninstallSteps } from '../helm/release-steps.ts';
import type { EventBacklog } from '../hooks/event-backlog.ts';
import type { Hook } from '../hooks/hook.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { Discovery } from '../modules/discovery.ts';
import type { Module } from '../modules/module.ts';
import type { QueueSet } from '../queue/queue-set.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { DynamicFlags } from './dynamic-flags.ts';
import type { FailurePolicy } from './failure-policy.ts';
import type { HookExecution } from './hook-execution.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { ModuleCrds } from './module-crds.ts';
import type { Pauses } from './pauses.ts';
import type { DirectoryMemory, ModulesDirectory } from './purge-guard.ts';
import type { Releases } from './releases.ts';
import type { Task } from './tasks.ts';

/** The other parts of the daemon, as the operator uses them. */
export interface OperatorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** A text for a new event, which nothing else has. */
  readonly newEventId: () => string;
  readonly queues: QueueSet<Task>;
  /** Bounds the events that wait in the queues. */
  readonly backlog: Pick<EventBacklog, 'relieve' | 'heldBytes'>;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly execution: HookExecution;
  readonly releases: Releases;
  readonly crds: ModuleCrds;
  readonly metrics: OperatorMetrics;
  /** One pass over all modules, enabled scripts included; deployed modules may be protected against being disabled. */
  readonly discover: (
    modules: readonly Module[],
    deployed: ReadonlySet<ModuleName>,
    signal: AbortSignal,
  ) => Promise<Discovery>;
  /**
   * As `discover`, but an enabled script that would be given just what it was given when it was asked last is not asked
   * again: what it said stands.
   */
  readonly rediscover: OperatorDeps['discover'];
  /** Asks all hooks of a module for their configuration. */
  readonly loadModuleHooks: (module: Module, signal: AbortSignal) => Promise<readonly Hook[]>;
  readonly createRuntime: (hook: Hook) => HookRuntime;
  /** Asks all global hooks for their configuration. */
  readonly loadGlobalHooks: (signal: AbortSignal) => Promise<readonly Hook[]>;
  /** Reads the modules directories again. */
  readonly reloadModules: () => Promise<void>;
  /** Registers or removes the crontabs of a hook. */
  readonly setSchedules: (runtime: HookRuntime, isEnabled: boolean) => void;
  /**
   * Makes the API server call the webhooks of hooks, or no longer; hooks without any change nothing. Resolves when the
   * cluster knows it.
   */
  readonly setWebhooks: (
    runtimes: readonly HookRuntime[],
    isEnabled: boolean,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Follows the Secrets that values refer to, and will when the ConfigMap is taken over; resolves when they were read. */
  readonly followSecrets: () => Promise<void>;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  /** Whether modules with equal order numbers run at the same time. */
  readonly runsModulesInParallel: boolean;
  /** Flow hooks; undefined when nobody has registered one. */
  readonly flow: () => FlowPassDeps | undefined;
  /** What extensions do while a module is deployed; undefined for nothing. */
  readonly releaseSteps: (module: Module, signal: AbortSignal) => Promise<ReleaseSteps | undefined>;
  /**
   * What extensions do while the release of a module is uninstalled; undefined for nothing. A module that is gone has no
   * path, and no extensions of its own.
   */
  readonly uninstallSteps: (
    module: { readonly name: string; readonly path?: string },
    signal: AbortSignal,
  ) => Promise<UninstallSteps | undefined>;
  /** The servers that modules name in module.yaml; undefined where nobody asks them. */
  readonly httpHooks: Pick<ModuleHttpHooks, 'preReconcileWithoutChart'> | undefined;
  /** Sees to it that these servers are told before a module is deleted; undefined where nobody tells them. */
  readonly finalizers: Public<ModuleFinalizers> | undefined;
  readonly failurePolicy: FailurePolicy;
  /** Limit in milliseconds for hooks of a deploy that have none of their own; undefined: that of all hooks. */
  readonly deployHookTimeoutMs: number | undefined;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll'>;
  /** Undefined when every module may run. */
  readonly authorization: Authorization | undefined;
  /** The modules directories as they were read last. */
  readonly modulesDirectories: () => readonly ModulesDirectory[];
  /** The modules directories as they were when something was in them. */
  readonly directoryMemory: DirectoryMemory;
  /** Whether releases are removed although a modules directory has become empty. */
  readonly allowsEmptyModulesDir: boolean;
  /** Helm releases with this name are never removed. */
  readonly ignoredRelease: string;
  /** Whether releases without a module are removed whoever made them. */
  readonly purgesForeignReleases: boolean;
}

/** Decides which modules may run. */
export interface Authorization {
  /** Its name, for hooks. */
  readonly policy: string;
  /** @throws OperatorError MODULE_UNAUTHORIZED when a module may not run any more, or was changed */
  verify(module: Module, signal: AbortSignal): Promise<void>;
}

/** Whatever has the same methods. */
type Public<T> = Pick<T, keyof T>;
