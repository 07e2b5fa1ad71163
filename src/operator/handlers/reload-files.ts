import { isDeepStrictEqual } from 'node:util';
import { errorFields, messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { Hook } from '../../hooks/hook.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { ConvergeState } from '../converge-state.ts';
import type { GlobalHooks } from '../global-hooks.ts';
import type { HookRuntime } from '../hook-runtime.ts';
import { enableTasks, onStartupRuns } from '../lifecycle.ts';
import type { ModuleRegistry } from '../module-registry.ts';
import type { Releases } from '../releases.ts';
import type { HookBindings, ModuleSources } from '../services.ts';
import type { TaskRouter } from '../task-router.ts';
import type { Task } from '../tasks.ts';
import type { TrackedModule } from '../tracked-module.ts';
import type { ModuleRemoval } from './module-delete.ts';

/** What the functions here use of the operator. */
export interface ReloadFilesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly releases: Releases;
  readonly sources: Pick<ModuleSources, 'loadGlobalHooks' | 'loadModuleHooks' | 'reloadModules'>;
  readonly bindings: Pick<HookBindings, 'createRuntime' | 'setSchedules' | 'setWebhooks'>;
  readonly removal: Pick<ModuleRemoval, 'stop'>;
}

/**
 * Development only: takes over what changed on disk. New and changed global hooks are started as at the start of the
 * daemon, removed ones stopped; modules with other hooks start anew; then all modules are brought to the new state.
 * What cannot be loaded is reported, now and after each converge until it can be, and stays as it was.
 */
export async function handleReloadFiles(
  operator: ReloadFilesParts,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  operator.converge.beginReload();
  try {
    return await reload(operator, signal);
  } finally {
    operator.converge.endReload();
  }
}

async function reload(operator: ReloadFilesParts, signal: AbortSignal): Promise<TaskOutcome<Task>> {
  await attempt(operator, 'modules', () => operator.sources.reloadModules());
  const started: HookRuntime[] = [];
  await attempt(operator, 'global hooks', async () => {
    started.push(
      ...(await replaceGlobalHooks(operator, await operator.sources.loadGlobalHooks(signal), signal)),
    );
  });
  // Those that are stopped may be made anew meanwhile.
  const modules = [...operator.registry.tracked.values()];
  for (const tracked of modules) {
    const { hooks, module } = tracked;
    const load = async (): Promise<void> => {
      if (module.refusal !== undefined) return stopRefused(operator, tracked, signal);
      if (hooks === undefined) return;
      const loaded = await operator.sources.loadModuleHooks(module, signal);
      if (
        !isSame(
          hooks.map((runtime) => runtime.hook),
          loaded,
        )
      )
        await operator.removal.stop(tracked, signal);
    };
    await attempt(operator, `hooks of module ${module.name}`, load, module.name);
  }
  // The converge of the start comes anyway, when the global hooks are ready for it.
  if (operator.registry.discovery !== undefined)
    operator.router.restartConverge('ReloadAllModules', 'Files-Changed');
  operator.router.main.prepend(...onStartupRuns(started), ...enableTasks(started));
  return { type: 'success' };
}

/** What runs of it ends; its release stays as it is. */
async function stopRefused(
  operator: ReloadFilesParts,
  tracked: TrackedModule,
  signal: AbortSignal,
): Promise<void> {
  await operator.releases.stopMonitor(tracked.module.name);
  await operator.removal.stop(tracked, signal);
}

async function attempt(
  operator: ReloadFilesParts,
  what: string,
  load: () => Promise<void>,
  module?: ModuleName,
): Promise<void> {
  try {
    await load();
  } catch (error) {
    operator.converge.addUnloaded({ what, module, error: messageOf(error) });
    operator.log.error(errorFields(error), `cannot load changed files, the ${what} are not changed`);
  }
}

/** Returns the hooks that are to be started. */
async function replaceGlobalHooks(
  operator: ReloadFilesParts,
  loaded: readonly Hook[],
  signal: AbortSignal,
): Promise<HookRuntime[]> {
  const before = operator.globalHooks.runtimes;
  const kept = before.filter(({ hook }) => loaded.some((other) => isSame([hook], [other])));
  const fresh = loaded
    .filter((hook) => !kept.some((runtime) => runtime.hook.name === hook.name))
    .map((hook) => operator.bindings.createRuntime(hook));
  const gone = before.filter((runtime) => !kept.includes(runtime));
  await operator.bindings.setWebhooks(gone, false, signal);
  await operator.bindings.setWebhooks(fresh, true, signal);
  for (const runtime of gone) {
    operator.bindings.setSchedules(runtime, false);
    await runtime.stop();
  }
  operator.router.dropTasksOf(gone);
  operator.globalHooks.setRuntimes(
    [...kept, ...fresh].toSorted((a, b) => (a.hook.name < b.hook.name ? -1 : 1)),
  );
  for (const { hook } of fresh) operator.log.info({ hook: hook.name }, 'global hook is new or changed');
  for (const { hook } of gone) operator.log.info({ hook: hook.name }, 'global hook was replaced or removed');
  return fresh;
}

/** Whether hooks have the same names and configurations; what else is in the file counts at its next run anyway. */
function isSame(a: readonly Hook[], b: readonly Hook[]): boolean {
  const essence = (hooks: readonly Hook[]) => hooks.map(({ path, config }) => ({ path, config }));
  return isDeepStrictEqual(essence(a), essence(b));
}
