import { HookRunner, hookRunsOf } from '../hooks/run-hook.ts';
import { ObjectPatcher } from '../kube/object-patch/object-patcher.ts';
import { componentLog } from '../lib/component-log.ts';
import type { EnabledScriptOptions } from '../modules/enabled-script.ts';
import type { ModuleHooksOptions } from '../modules/module-hooks.ts';
import { HookExecution, type HookExecutionOptions } from '../operator/hook-execution.ts';
import { noteHookRun } from '../operator/module-facts.ts';
import type { ModuleRegistry } from '../operator/module-registry.ts';
import { warnOfEscaped } from '../process/escaped-processes.ts';
import { hookLimits } from '../settings/hook-limits.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type SecretsUse, sectionsVisibleToModule, visibleToModule } from '../values/visible-values.ts';
import type { BuildOptions } from './build-options.ts';

/** Between TERM and KILL of a hook that is to end. */
const HOOK_GRACE_MS = 10_000;

/** A script that cannot know a text yet still has to decide. */
const SECRETS_OF_SCRIPTS: SecretsUse = 'optional';

/** What runs hooks and takes in their results. */
export function createExecution(
  options: BuildOptions & Pick<HookExecutionOptions, 'dynamicFlags' | 'followSecrets' | 'values'>,
  registry: ModuleRegistry,
): HookExecution {
  const { settings, host, base, metrics, hookMetrics, configMap } = options;
  const { values, dynamicFlags, followSecrets } = options;
  const { clock, random } = host;
  return new HookExecution({
    clock,
    values,
    configMap,
    dynamicFlags,
    followSecrets,
    hookMetrics,
    metrics,
    maxContextBytes: settings.hookContextMaxBytes,
    enabledModules: () => registry.enabled,
    onEnd: (end) => {
      base.helm.forgetReads();
      noteHookRun(registry, end);
    },
    hookRunner: hookRunsOf({
      'in-process': base.inProcess,
      http: base.http,
      executable: options.running.use(
        new HookRunner({
          runner: base.runner,
          tmpDir: base.tmpDir,
          env: base.hookEnv,
          cwd: host.cwd,
          ...hookLimits(settings),
          graceMs: HOOK_GRACE_MS,
          onEscaped: ({ owner, name }, count) =>
            metrics.hookEscapes({ module: owner.type === 'global' ? '' : owner.module, hook: name }, count),
          keepFiles: settings.keepsTmpFiles,
        }),
      ),
    }),
    objectPatcher: new ObjectPatcher({
      kube: base.cluster.patcher,
      find: (apiVersion, kind, signal) => base.cluster.discovery.find(apiVersion, kind, signal),
      jq: base.jq,
      clock,
      random,
      log: componentLog(host, 'kube'),
    }),
  });
}

/** What enabled scripts are run with, and what modules see in them. */
export function scriptParts(
  { settings, host, base, metrics }: BuildOptions,
  values: ValuesStore,
): Pick<ModuleHooksOptions, 'scripts' | 'sections'> {
  const scripts: EnabledScriptOptions = {
    processes: base.runner,
    visible: (name, enabledBefore) => visibleToModule(values, name, enabledBefore, SECRETS_OF_SCRIPTS),
    tmpDir: base.tmpDir,
    env: base.hookEnv,
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
