import { isDeepStrictEqual } from 'node:util';
import { errorFields, messageOf } from '@addon-operator/base/errors';
import type { TaskOutcome } from '@addon-operator/task-queue';
import { describeEdit, type EditedHooksParts, rerunEdited } from '../hook-runs/edited-hooks.ts';
import { fullName, type Hook } from '../hooks/hook.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import {
  effectsOfSaving,
  type ModuleReload,
  type ReloadFacts,
  type SavedFile,
} from '../model/saved-files.ts';
import type { HookBindings, ModuleSources } from '../model/services.ts';
import { FILES_CHANGED, type Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { Module } from '../modules/module.ts';
import { lookForReleases } from '../reconcile/finish-deletion.ts';
import type { ModuleName } from '../values/module-key.ts';
import { enableTasks, onStartupRuns } from './lifecycle.ts';
import { type SwitchModulesParts, stopForNext, stopRuns, switchModules, takeOver } from './switch-modules.ts';

/** The parts that a reload replaces or restarts. */
export type ReloadFilesParts = SwitchModulesParts & {
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly queues: EditedHooksParts['queues'];
  readonly metrics: EditedHooksParts['metrics'];
  readonly sources: Pick<ModuleSources, 'loadGlobalHooks' | 'loadModuleHooks' | 'modulesDirectories'>;
  readonly bindings: Pick<HookBindings, 'createRuntime' | 'setSchedules' | 'setWebhooks'>;
};

/**
 * Handles ReloadFiles. For some modules it is a switch, see `switch-modules.ts`. Without names, as
 * the watch on files queues it in development, everything is read: new and changed global hooks start as at the start of the daemon, removed
 * ones stop, modules with other hooks start again, edited hooks run again, and a converge follows.
 * Files that cannot be loaded are reported, now and after each converge, and the old state stays.
 */
export async function handleReloadFiles(
  operator: ReloadFilesParts,
  { saved, modules }: Extract<Task, { readonly type: 'ReloadFiles' }>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (modules !== undefined) return await switchModules(operator, modules, signal);
  operator.converge.beginReload();
  try {
    return await reload(operator, saved, signal);
  } finally {
    operator.converge.endReload();
  }
}

/** The effects of a reload, for the report about the saved files. */
interface Reloaded {
  /** The effect on hooks, by path. */
  readonly hooks: Map<string, string>;
  readonly modules: Map<ModuleName, ModuleReload>;
}

const UNUSED = 'it is not used as a hook, and nothing runs again';

/**
 * Reads all files again, and queues what follows. A part that cannot be loaded is recorded and
 * skipped.
 */
async function reload(
  operator: ReloadFilesParts,
  saved: readonly SavedFile[],
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { registry } = operator;
  const before = registry.modules;
  const reloaded: Reloaded = { hooks: new Map(), modules: new Map() };
  // Each part is attempted by itself: an error in one module must not keep the others from being
  // reloaded.
  const areRead = await attempt(operator, 'modules', async () => {
    const reading = await operator.sources.readAgain();
    const taken = await takeOver(operator, reading, { isEdited: true, requests: [] }, signal);
    for (const { name, change } of taken)
      if (change === 'switch' || change === 'return') reloaded.modules.set(name, 'restarted');
  });
  const isRemoved = before.some(({ name }) => registry.find(name) === undefined);
  const started: HookRuntime[] = [];
  await attempt(operator, 'global hooks', async () => {
    const onUnused = (path: string): void => void reloaded.hooks.set(path, UNUSED);
    const loaded = await operator.sources.loadGlobalHooks(signal, { onUnused });
    started.push(...(await replaceGlobalHooks(operator, loaded, reloaded, signal)));
  });
  // A copy: restarted modules change the registry during the loop.
  const modules = [...registry.tracked.values()];
  for (const tracked of modules) await reloadHooksOf(operator, tracked, reloaded, signal);
  // Before the first discovery the start's own converge follows, when the global hooks are ready.
  if (registry.discovery !== undefined) operator.router.restartConverge('ReloadAllModules', FILES_CHANGED);
  if (isRemoved) lookForReleases(operator, FILES_CHANGED);
  for (const runtime of editedHooks(operator, saved)) {
    // A started hook runs its onStartup and Synchronizations anyway.
    if (started.includes(runtime)) continue;
    const plan = rerunEdited(operator, runtime);
    reloaded.hooks.set(runtime.hook.path, `hook ${fullName(runtime.hook)} ${describeEdit(plan)}`);
  }
  // Prepended last, so that they run first: the converge may need values that these hooks set.
  operator.router.main.prepend(...onStartupRuns(started), ...enableTasks(started));
  reportSaved(operator, saved, before, areRead ? reloaded : { ...reloaded, modules: notLoaded(before) });
  return { type: 'success' };
}

/** The running hooks whose files were saved. */
function editedHooks(
  { registry, globalHooks }: ReloadFilesParts,
  saved: readonly SavedFile[],
): readonly HookRuntime[] {
  const paths = new Set(saved.flatMap(({ path, real }) => [path, real]));
  const ofModules = [...registry.tracked.values()].flatMap(({ hooks }) => hooks ?? []);
  return [...globalHooks.runtimes, ...ofModules].filter(
    ({ hook, isStopped }) => !isStopped && paths.has(hook.path),
  );
}

/** Loads the hooks of a module again. Only other names or configurations restart the module. */
async function reloadHooksOf(
  operator: ReloadFilesParts,
  tracked: TrackedModule,
  reloaded: Reloaded,
  signal: AbortSignal,
): Promise<void> {
  const { hooks, module } = tracked;
  const load = async (): Promise<void> => {
    if (module.refusal !== undefined) {
      reloaded.modules.set(module.name, 'refused');
      await stopRuns(operator, tracked, signal);
      return;
    }
    if (hooks === undefined) return;
    const loaded = await operator.sources.loadModuleHooks(module, signal);
    const known = hooks.map((runtime) => runtime.hook);
    // The same names and configurations: the runtimes stay, and the next run uses the new file.
    if (isSame(known, loaded)) return;
    reloaded.modules.set(module.name, 'restarted');
    await stopForNext(operator, tracked, signal);
  };
  const isLoaded = await attempt(operator, `hooks of module ${module.name}`, load, module.name);
  if (!isLoaded) reloaded.modules.set(module.name, 'not-loaded');
}

/** Marks all modules as not reloaded. */
function notLoaded(modules: readonly Module[]): Reloaded['modules'] {
  return new Map(modules.map(({ name }) => [name, 'not-loaded']));
}

/**
 * The number of logged effects: a checkout of another branch changes an unlimited number of files.
 */
const MAX_EFFECTS = 20;

/** Logs the effect of each saved file. */
function reportSaved(
  operator: ReloadFilesParts,
  saved: readonly SavedFile[],
  before: readonly Module[],
  { hooks, modules: reloads }: Reloaded,
): void {
  const { modules } = operator.registry;
  const has = (list: readonly Module[], name: ModuleName): boolean =>
    list.some((module) => module.name === name);
  const places = [...modules, ...before].map(
    ({ name, path, source = path }): ReloadFacts['modules'][number] => ({
      name,
      path: source,
      reload: has(modules, name) ? (reloads.get(name) ?? (has(before, name) ? 'same' : 'new')) : 'gone',
    }),
  );
  const modulesDirs = operator.sources.modulesDirectories().map(({ path }) => path);
  const effects = effectsOfSaving(saved, { hooks, modules: places, modulesDirs });
  for (const fields of effects.slice(0, MAX_EFFECTS))
    operator.log.info({ ...fields }, 'saved files are used');
  if (effects.length > MAX_EFFECTS)
    operator.log.info({ effects: effects.length }, 'further saved files are used');
}

/**
 * Runs one part of a reload. An error is recorded, so that status and each converge show it.
 * Returns whether it succeeded.
 */
async function attempt(
  operator: ReloadFilesParts,
  what: string,
  load: () => Promise<void>,
  module?: ModuleName,
): Promise<boolean> {
  try {
    await load();
    return true;
  } catch (error) {
    operator.converge.addUnloaded({ what, module, error: messageOf(error) });
    operator.log.error(errorFields(error), `cannot load changed files, the ${what} are not changed`);
    return false;
  }
}

/** Replaces global hooks, and returns those that have to be started. */
async function replaceGlobalHooks(
  operator: ReloadFilesParts,
  loaded: readonly Hook[],
  { hooks }: Reloaded,
  signal: AbortSignal,
): Promise<HookRuntime[]> {
  const before = operator.globalHooks.runtimes;
  const kept = before.filter(({ hook }) => loaded.some((other) => isSame([hook], [other])));
  const fresh = loaded
    .filter((hook) => !kept.some((runtime) => runtime.hook.name === hook.name))
    .map((hook) => operator.bindings.createRuntime(hook));
  const gone = before.filter((runtime) => !kept.includes(runtime));
  // Webhooks of removed hooks end before others of the same name begin.
  await operator.bindings.setWebhooks(gone, false, signal);
  await operator.bindings.setWebhooks(fresh, true, signal);
  for (const runtime of gone) {
    // Stopped before their tasks are dropped, so that no event queues another one.
    operator.bindings.setSchedules(runtime, false);
    await runtime.stop();
  }
  operator.router.dropTasksOf(gone);
  await Promise.all(gone.map((runtime) => runtime.endRuns()));
  operator.globalHooks.setRuntimes(
    [...kept, ...fresh].toSorted((a, b) => (a.hook.name < b.hook.name ? -1 : 1)),
  );
  for (const { hook } of gone) {
    hooks.set(hook.path, `global hook ${hook.name} is gone: its bindings have ended`);
    operator.log.info({ hook: hook.name }, 'global hook was replaced or removed');
  }
  for (const { hook } of fresh) {
    hooks.set(hook.path, `global hook ${hook.name} is new, or its configuration has changed: it starts`);
    operator.log.info({ hook: hook.name }, 'global hook is new or changed');
  }
  return fresh;
}

/** Whether hooks have the same names, files and configurations. */
function isSame(a: readonly Hook[], b: readonly Hook[]): boolean {
  const essence = (hooks: readonly Hook[]) =>
    hooks.map(({ name, path, config, batch }) => ({ name, path, config, batch }));
  return isDeepStrictEqual(essence(a), essence(b));
}
