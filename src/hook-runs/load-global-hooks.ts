import type { Logger } from '@addon-operator/base/log';
import { bindingCount } from '../hooks/hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { HookBindings, ModuleSources } from '../model/services.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';

/** The parts that global hooks are loaded into. */
export interface LoadGlobalHooksParts {
  readonly globalHooks: GlobalHooks;
  readonly sources: Pick<ModuleSources, 'loadGlobalHooks'>;
  readonly bindings: Pick<HookBindings, 'createRuntime'>;
  readonly metrics: Pick<OperatorMetrics, 'setBindingCount'>;
}

/**
 * Loads the global hooks at the start, and creates their runtimes. Nothing is watched and no hook
 * runs before `lifecycle.ts` has queued its tasks.
 *
 * @throws OperatorError for a hook whose configuration cannot be read
 */
export async function loadHooks(
  { globalHooks, sources, bindings, metrics }: LoadGlobalHooksParts,
  stop: AbortSignal,
): Promise<void> {
  const hooks = await sources.loadGlobalHooks(stop);
  globalHooks.setRuntimes(hooks.map((hook) => bindings.createRuntime(hook)));
  for (const hook of hooks) metrics.setBindingCount('', hook.name, bindingCount(hook));
}

/**
 * Warns of a daemon without modules and hooks: an empty image, or a volume that is not mounted,
 * looks the same as an idle operator.
 */
export function warnOfNothingToDo(
  { registry, globalHooks }: { readonly registry: ModuleRegistry; readonly globalHooks: GlobalHooks },
  {
    modulesDirs,
    globalHooksDir,
    watchesFiles,
  }: Pick<DirectorySettings, 'modulesDirs' | 'globalHooksDir'> & Pick<DaemonSettings, 'watchesFiles'>,
  log: Logger,
): void {
  if (registry.modules.length > 0 || globalHooks.runtimes.length > 0) return;
  const advice = watchesFiles
    ? 'write the first one into these directories, it takes effect at once'
    : 'copy them into the image, or mount them at these directories';
  log.warn(
    { modulesDirs, globalHooksDir },
    `there are no modules and no global hooks, so there is nothing to do: ${advice}`,
  );
}
