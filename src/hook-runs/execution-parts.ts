import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { JqEngine } from '@addon-operator/jq/engines/jq-engine';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import type { SeenAccess } from '@addon-operator/kube-client/policy-rules';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import { warnOfEscaped } from '@addon-operator/process/escaped-processes';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { type CheckOptions, checkSettings } from '../hooks/check-settings.ts';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import type { InProcessHooks } from '../hooks/in-process/in-process-hooks.ts';
import { isNotYet } from '../hooks/retry-errors.ts';
import { HookRunner, type HookRuns, hookRunsOf } from '../hooks/run-hook.ts';
import type { Journal } from '../journal/journal.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { isProbe } from '../model/probe-readiness.ts';
import type { EnabledScriptOptions } from '../modules/enabled-script.ts';
import type { ModuleHooksOptions } from '../modules/module-hooks.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { DebugSettings } from '../settings/debug-settings.ts';
import { hookLimits } from '../settings/hook-limits.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type SecretsUse, sectionsVisibleToModule, visibleToModule } from '../values/visible-values.ts';
import { HookExecution, type HookExecutionOptions } from './hook-execution.ts';
import { noteReadiness } from './note-readiness.ts';
import { journalHookRuns, noteHookRun } from './record-runs.ts';
import type { SettingsChecksParts } from './settings-checks.ts';

/** The time between SIGTERM and SIGKILL of a hook, in milliseconds. */
const HOOK_GRACE_MS = 10_000;

/** Enabled scripts have to decide although a Secret cannot be read yet. */
const SECRETS_OF_SCRIPTS: SecretsUse = 'optional';

/** The parts that run both hooks and enabled scripts. */
interface ScriptPartsOptions {
  readonly settings: Pick<HookRunSettings, 'hookTimeoutMs' | 'hookOutputLimitBytes'> &
    Pick<DebugSettings, 'keepsTmpFiles'>;
  readonly host: { readonly cwd: string; readonly log: Logger };
  readonly runner: ProcessRunner;
  readonly tmpDir: string;
  readonly hookEnv: Readonly<Record<string, string>>;
  readonly metrics: OperatorMetrics;
}

interface HookRunsOptions extends ScriptPartsOptions {
  readonly host: ScriptPartsOptions['host'] & { readonly log: RootLogger };
  readonly http: HttpHooks;
  readonly inProcess: InProcessHooks;
  /** Wraps the runs, to record them; default: nothing. */
  readonly tap?: (runs: HookRuns) => HookRuns;
  /** Receives everything that has to be stopped. */
  readonly running: AsyncDisposableStack;
}

/** The options of all hook processes. */
function processOptions(options: HookRunsOptions): CheckOptions {
  const { runner, tmpDir, hookEnv: env, settings, host } = options;
  const { maxOutputBytes } = hookLimits(settings);
  const logLevel = (): RootLogger['level'] => host.log.level;
  // A function, because the log level can change while the daemon runs.
  return { runner, tmpDir, env, cwd: host.cwd, graceMs: HOOK_GRACE_MS, maxOutputBytes, logLevel };
}

/** Runs hooks of every transport. */
function createHookRuns(options: HookRunsOptions): HookRuns {
  const { settings, metrics, tap = (runs: HookRuns): HookRuns => runs } = options;
  return tap(
    hookRunsOf({
      'in-process': options.inProcess,
      http: options.http,
      executable: options.running.use(
        new HookRunner({
          ...processOptions(options),
          timeoutMs: hookLimits(settings).timeoutMs,
          onEscaped: ({ owner, name }, count) =>
            metrics.hookEscapes({ module: owner.type === 'global' ? '' : owner.module, hook: name }, count),
          keepFiles: settings.keepsTmpFiles,
        }),
      ),
    }),
  );
}

interface HookPatcherOptions {
  readonly host: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly cluster: {
    readonly patcher: KubeClient;
    readonly discovery: Discovery;
    /** Collects the permissions that the operations need; absent where no rules are derived. */
    readonly patchAccess?: Pick<SeenAccess, 'note'>;
  };
  readonly jq: JqEngine;
}

/** Applies the operations on objects that hooks write. */
function createHookPatcher({ host, cluster, jq }: HookPatcherOptions): ObjectPatcher {
  return new ObjectPatcher({
    kube: cluster.patcher,
    find: (apiVersion, kind, signal) => cluster.discovery.find(apiVersion, kind, signal),
    jq,
    clock: host.clock,
    random: host.random,
    log: componentLog(host, 'kube'),
    onAccess: (access) => cluster.patchAccess?.note(access),
  });
}

/** Creates the parts that run hooks, and that apply their operations on objects. */
export function createRunParts(
  options: HookRunsOptions & HookPatcherOptions,
): Pick<ExecutionOptions, 'hookRuns' | 'objectPatcher'> & { readonly check: SettingsChecksParts['run'] } {
  const check: SettingsChecksParts['run'] = (...given) => checkSettings(processOptions(options), ...given);
  return { hookRuns: createHookRuns(options), objectPatcher: createHookPatcher(options), check };
}

export interface ExecutionOptions
  extends Pick<
    HookExecutionOptions,
    'configMap' | 'dynamicFlags' | 'followSecrets' | 'hookMetrics' | 'metrics' | 'values'
  > {
  readonly settings: Pick<HookRunSettings, 'hookContextMaxBytes' | 'keptHookFailures'>;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly helm: Pick<HelmDriver, 'forgetReads'>;
  readonly hookRuns: HookRuns;
  readonly objectPatcher: ObjectPatcher;
}

/**
 * Creates the execution of hooks: run, check and apply, with the record in journal, status and
 * traces.
 */
export function createExecution(
  options: ExecutionOptions,
  {
    registry,
    journal,
    enabledModules = () => registry.enabled,
  }: {
    readonly registry: ModuleRegistry;
    readonly journal: Journal;
    /** The enabled modules that hooks see; default: those of the last discovery. */
    readonly enabledModules?: HookExecutionOptions['enabledModules'];
  },
): HookExecution {
  const { settings, metrics, hookMetrics, configMap, values, dynamicFlags, followSecrets } = options;
  const { clock } = options.host;
  const record = journalHookRuns({ journal, clock, registry, isKept: settings.keptHookFailures > 0 });
  return new HookExecution({
    clock,
    values,
    configMap,
    dynamicFlags,
    followSecrets,
    hookMetrics,
    metrics,
    maxContextBytes: settings.hookContextMaxBytes,
    enabledModules,
    observe: (run, queue, log) => {
      const recorded = record(run, queue, log);
      return {
        ...recorded,
        end: (end) => {
          // A hook may have changed the cluster, so cached reads of helm are out of date.
          options.helm.forgetReads();
          if (isProbe(end.run.hook.hook))
            noteReadiness({ registry, log: componentLog(options.host, 'hooks') }, end);
          // A run that asked to be repeated has neither failed nor succeeded.
          else if (!isNotYet(end.cause?.error)) noteHookRun(registry, end);
          recorded.end(end);
        },
      };
    },
    hookRunner: options.hookRuns,
    objectPatcher: options.objectPatcher,
  });
}

/** The options of enabled scripts, and the values that they see. */
export function scriptParts(
  { settings, host, runner, tmpDir, hookEnv, metrics }: ScriptPartsOptions,
  values: ValuesStore,
): Pick<ModuleHooksOptions, 'scripts' | 'sections'> {
  const scripts: EnabledScriptOptions = {
    processes: runner,
    visible: (name, enabledBefore) => visibleToModule(values, name, enabledBefore, SECRETS_OF_SCRIPTS),
    tmpDir,
    env: hookEnv,
    cwd: host.cwd,
    ...hookLimits(settings),
    graceMs: HOOK_GRACE_MS,
    isKeepingFiles: settings.keepsTmpFiles,
    log: componentLog(host, 'modules'),
    onEscaped: (module, escaped, log) => {
      metrics.hookEscapes({ module, hook: 'enabled' }, escaped.count);
      warnOfEscaped(log, escaped);
    },
    onUsage: (module, usage) =>
      metrics.hookUsage(
        { module, hook: 'enabled', binding: 'enabled', queue: 'main', activation: '' },
        usage,
      ),
  };
  return { scripts, sections: (name) => sectionsVisibleToModule(values, name, SECRETS_OF_SCRIPTS) };
}
