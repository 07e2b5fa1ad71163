import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import type { ModuleFinalizers } from '../extensions/reconcile-webhook/module-finalizers.ts';
import type { WebhookSteps } from '../extensions/reconcile-webhook/webhook-steps.ts';
import type { Hook } from '../hooks/hook.ts';
import type { LoadOptions, OnInvalidHook } from '../hooks/load-hooks.ts';
import type { Journal } from '../journal/journal.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleDiscovery } from '../modules/module-discovery.ts';
import type { CandidateVersion } from '../modules/modules-directory.ts';
import type { ReleaseSteps, UninstallSteps } from '../releases/release-steps.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { StaticValues, ValuesStore } from '../values/values-store.ts';
import type { DynamicFlags } from './dynamic-flags.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { ModulesDirectory } from './purge-guard.ts';

/** The clocks and records that every room uses. */
export interface Telemetry {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly journal: Journal;
}

/** Values and flags as they are now. */
export interface Configuration {
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  /** Reads the Secrets that values refer to. */
  readonly followSecrets: () => Promise<void>;
}

/** The modules that were active before a discovery. */
export interface ModulesBefore {
  /** Modules that run or have a release. */
  readonly deployed: ReadonlySet<ModuleName>;
  /** Modules that were enabled. */
  readonly lastEnabled: ReadonlySet<ModuleName>;
}

/** Limits of {@link ModuleSources.readAgain}. */
export interface ReadAgainOptions {
  /** Names of modules; default: all modules, and everything else in the modules directories. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Versions that are read in place of the entries of the same modules. */
  readonly candidates?: readonly CandidateVersion[] | undefined;
}

/** Modules that were read again. Nothing has changed yet. */
export interface ModuleReading {
  /** By name; a module that is gone is absent. */
  readonly modules: ReadonlyMap<ModuleName, Module>;
  /** All names that were read, also of modules that are gone. */
  readonly names: ReadonlySet<ModuleName>;
  /** Values and schemas with all modules as they were read. */
  readonly staticValues: StaticValues;
  /**
   * Prepares to take modules over; all others stay as they were.
   *
   * @returns takes them over
   * @throws OperatorError for files that cannot be used together; nothing has changed then
   */
  prepare(names: ReadonlySet<ModuleName>): Promise<() => Promise<void>>;
}

/** Where modules and hooks come from. */
export interface ModuleSources {
  /** One pass over all modules, enabled scripts included; deployed modules may be protected against being disabled. */
  readonly discover: (
    modules: readonly Module[],
    before: ModulesBefore,
    signal: AbortSignal,
  ) => Promise<ModuleDiscovery>;
  /** As `discover`, but the result of an enabled script is reused when its input is the same as the last time. */
  readonly rediscover: ModuleSources['discover'];
  /** Requests the configuration of all hooks of a module. */
  readonly loadModuleHooks: (
    module: Module,
    signal: AbortSignal,
    onInvalid?: OnInvalidHook,
  ) => Promise<readonly Hook[]>;
  /** Requests the configuration of all global hooks. */
  readonly loadGlobalHooks: (
    signal: AbortSignal,
    options?: Omit<LoadOptions, 'namedFrom'>,
  ) => Promise<readonly Hook[]>;
  /** Loads the hooks of a version that does not run yet; `keep` hands them to the next `loadModuleHooks`. */
  readonly prepareModuleHooks: (
    module: Module,
    signal: AbortSignal,
  ) => Promise<{ readonly hooks: readonly Hook[]; readonly keep: () => void }>;
  /** Reads modules again, without taking them over. */
  readonly readAgain: (options?: ReadAgainOptions) => Promise<ModuleReading>;
  /** The modules directories as they were read last. */
  readonly modulesDirectories: () => readonly ModulesDirectory[];
}

/** The CustomResourceDefinitions of modules, as the operator uses them. */
export interface ModuleCrds {
  /** Whether the module brings any. */
  has(module: ModuleName): boolean;
  /** Brings them into the cluster; resolves when their kinds can be used. */
  ensure(module: ModuleName, signal: AbortSignal): Promise<void>;
  /** What bringing those of a version would do, in sentences for users. */
  preview(
    module: Module,
    signal: AbortSignal,
  ): Promise<{ readonly kept: readonly string[]; readonly problems: readonly string[] }>;
}

/** Puts the bindings of hooks into operation, and out of it. */
export interface HookBindings {
  readonly createRuntime: (hook: Hook) => HookRuntime;
  /** Registers or removes the crontabs of a hook. */
  readonly setSchedules: (runtime: HookRuntime, isEnabled: boolean) => void;
  /** Queues the ticks that were dropped when this version of a module took over. */
  readonly serveLateTicks: (module: ModuleName, runtimes: readonly HookRuntime[]) => void;
  /**
   * Registers the webhooks of hooks at the API server, or removes them; ignores hooks without any.
   * Resolves when the cluster has the new configuration.
   */
  readonly setWebhooks: (
    runtimes: readonly HookRuntime[],
    isEnabled: boolean,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** Extensions that take part in the run of a module. */
export interface ModuleExtensions {
  /** Flow hooks; undefined when none is registered. */
  readonly flow: () => FlowPassDeps | undefined;
  /** Steps of extensions in the deployment of a module; undefined without any. */
  readonly releaseSteps: (module: Module, signal: AbortSignal) => Promise<ReleaseSteps | undefined>;
  /**
   * Steps of extensions while the release of a module is uninstalled; undefined without any. A
   * removed module has no path, and no extensions of its own.
   */
  readonly uninstallSteps: (
    module: { readonly name: string; readonly path?: string },
    signal: AbortSignal,
  ) => Promise<UninstallSteps | undefined>;
  /** The reconcile webhooks of modules; undefined where they are not called. */
  readonly httpHooks: Pick<WebhookSteps, 'preReconcileWithoutChart'> | undefined;
  /** Calls these webhooks before a module is deleted; undefined where they are not called. */
  readonly finalizers: Public<ModuleFinalizers> | undefined;
}

/** An object with the same methods. */
type Public<T> = Pick<T, keyof T>;
