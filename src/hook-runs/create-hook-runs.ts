// The wiring of this room, in the order of `app/build-operator.ts`: `createHookRuns` loads and runs hooks, `createHookExecution` adds the effects of their outputs, and `createBindings` comes last, since watches and crontabs report to the router.

import type { Clock } from '@addon-operator/base/clock';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SeenAccess } from '@addon-operator/kube-client/policy-rules';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { Hook } from '../hooks/hook.ts';
import type { HookLoader } from '../hooks/load-hooks.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { Model } from '../model/model.ts';
import type { Configuration, HookBindings, Telemetry } from '../model/services.ts';
import type { ModuleHooksOptions } from '../modules/module-hooks.ts';
import type { Queueing } from '../queues/create-queues.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { DebugSettings } from '../settings/debug-settings.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { createExecution, createRunParts, type ExecutionOptions, scriptParts } from './execution-parts.ts';
import type { HookExecution } from './hook-execution.ts';
import { createHookLoader, createRuntime } from './hook-parts.ts';
import { createRecording } from './recorded-runs.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import type { SettingsChecksParts } from './settings-checks.ts';
import type { HookConnections, HookTools } from './start-hook-tools.ts';
import { Synchronizations } from './synchronizations.ts';

/** The process in which hooks run. */
interface HookRunsHost {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: RootLogger;
  readonly cwd: string;
  readonly version: string;
}

/** The running parts that hooks need. */
interface HookRunsBase extends HookTools, HookConnections {
  readonly cluster: {
    readonly patcher: KubeClient;
    readonly discovery: Discovery;
    readonly patchAccess?: Pick<SeenAccess, 'note'>;
  };
}

export interface HookRunsParts {
  readonly settings: Pick<HookRunSettings, 'keptHookFailures' | 'hookTimeoutMs' | 'hookOutputLimitBytes'> &
    Pick<DebugSettings, 'keepsTmpFiles'>;
  readonly host: HookRunsHost;
  readonly base: HookRunsBase;
  readonly metrics: OperatorMetrics;
  readonly redactor: Redactor;
  readonly stop: AbortSignal;
  /** Receives everything that has to be stopped. */
  readonly running: AsyncDisposableStack;
}

/** Loads and runs hooks; nothing here applies their outputs. */
export interface CreatedHookRuns extends Pick<ExecutionOptions, 'hookRuns' | 'objectPatcher'> {
  readonly loader: HookLoader;
  readonly recorder: Recorder;
  /** Lets a hook check a section of the ConfigMap. */
  readonly check: SettingsChecksParts['run'];
  /** The options of enabled scripts. */
  readonly scripts: (values: ValuesStore) => Pick<ModuleHooksOptions, 'scripts' | 'sections'>;
}

/** Creates the parts that load and run hooks; `running` stops their processes. */
export function createHookRuns({
  settings,
  host,
  base,
  metrics,
  redactor,
  stop,
  running,
}: HookRunsParts): CreatedHookRuns {
  const { runner, tmpDir, hookEnv, http, inProcess, cluster, jq } = base;
  const { recorder, tap } = createRecording({ settings, host, redactor, hookEnv });
  const { hookRuns, objectPatcher, check } = createRunParts({
    settings,
    host,
    runner,
    tmpDir,
    hookEnv,
    metrics,
    http,
    inProcess,
    tap,
    running,
    cluster,
    jq,
  });
  return {
    hookRuns,
    objectPatcher,
    check,
    recorder,
    loader: createHookLoader({ host, runner, inProcess, http, hookEnv, jq }, stop),
    scripts: (values) => scriptParts({ settings, host, runner, tmpDir, hookEnv, metrics }, values),
  };
}

export interface HookExecutionParts {
  readonly settings: ExecutionOptions['settings'];
  readonly host: HookRunsHost;
  readonly runs: CreatedHookRuns;
  readonly hookMetrics: HookMetrics;
  readonly configMap: ConfigMapStore;
  readonly configuration: Configuration;
  readonly model: Pick<Model, 'registry' | 'converge'>;
  readonly queueing: Queueing;
  readonly telemetry: Telemetry;
  /** Notified of each hook run: cached reads of the cluster may be out of date. */
  readonly helm: ExecutionOptions['helm'];
  /** The enabled modules that hooks see; default: those of the last discovery. */
  readonly enabledModules: Parameters<typeof createExecution>[1]['enabledModules'];
}

/** Runs hooks for tasks, and applies their outputs. */
export function createHookExecution({
  settings,
  host,
  runs,
  hookMetrics,
  configMap,
  configuration,
  model,
  queueing,
  telemetry,
  helm,
  enabledModules,
}: HookExecutionParts): { readonly execution: HookExecution; readonly synchronizations: Synchronizations } {
  const { registry, converge } = model;
  const { queues, router } = queueing;
  const { metrics, journal } = telemetry;
  const { values, dynamicFlags, followSecrets } = configuration;
  const { hookRuns, objectPatcher } = runs;
  const execution = createExecution(
    {
      settings,
      host,
      helm,
      values,
      dynamicFlags,
      followSecrets,
      configMap,
      hookMetrics,
      metrics,
      hookRuns,
      objectPatcher,
    },
    { registry, journal, ...(enabledModules && { enabledModules }) },
  );
  return { execution, synchronizations: new Synchronizations({ registry, converge, router, queues }) };
}

export interface HookBindingsParts {
  readonly host: HookRunsHost;
  readonly base: HookRunsBase;
  readonly metrics: OperatorMetrics;
  readonly queueing: Pick<Queueing, 'router' | 'backlog'>;
  /** Switches the webhooks of hooks on and off at the API server. */
  readonly webhooks: { readonly set: HookBindings['setWebhooks'] };
  readonly stop: AbortSignal;
}

/** Connects hooks with watches, crontabs and webhooks. Nothing is watched yet. */
export function createBindings({ host, base, metrics, queueing, webhooks, stop }: HookBindingsParts): {
  readonly bindings: HookBindings;
  readonly schedules: Schedules;
} {
  const { cluster, jq, reflectors } = base;
  const { router, backlog } = queueing;
  const schedules = createSchedules({ host, metrics, router });
  const deps = { host, jq, cluster, reflectors, metrics, backlog, stop };
  return {
    schedules,
    bindings: {
      createRuntime: (hook: Hook): HookRuntime => createRuntime(deps, hook, router),
      setSchedules: (runtime, isEnabled) => schedules.set(runtime, isEnabled),
      setWebhooks: (runtimes, isEnabled, signal) => webhooks.set(runtimes, isEnabled, signal),
      serveLateTicks: (module, runtimes) => router.serveLateTicks(module, runtimes),
    },
  };
}
