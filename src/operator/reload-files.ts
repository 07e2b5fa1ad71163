import { isDeepStrictEqual } from 'node:util';
import { errorFields, messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import { describeEdit, type EditedHooksParts, rerunEdited } from '../hook-runs/edited-hooks.ts';
import { fullName, type Hook } from '../hooks/hook.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
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
import { REFUSED_MESSAGES } from '../modules/refusal.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { lookForReleases } from '../reconcile/finish-deletion.ts';
import type { ModuleRemoval } from '../reconcile/module-delete.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { enableTasks, onStartupRuns } from './lifecycle.ts';

/** What the functions here use of the operator. */
export interface ReloadFilesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly releases: Releases;
  readonly queues: EditedHooksParts['queues'];
  readonly metrics: EditedHooksParts['metrics'];
  readonly sources: Pick<
    ModuleSources,
    'loadGlobalHooks' | 'loadModuleHooks' | 'reloadModules' | 'modulesDirectories'
  >;
  readonly bindings: Pick<HookBindings, 'createRuntime' | 'setSchedules' | 'setWebhooks'>;
  readonly removal: Pick<ModuleRemoval, 'stop'>;
  readonly values: Pick<ValuesStore, 'forgetPatches'>;
}

/**
 * Takes over what changed on disk: of modules whose files were lost or are back; in development everything. New and changed global hooks are started as at the start of the
 * daemon, removed ones stopped; modules with other hooks start anew; hooks that were edited run again; then all modules
 * are brought to the new state. What cannot be loaded is reported, now and after each converge until it can be, and stays
 * as it was.
 */
export async function handleReloadFiles(
  operator: ReloadFilesParts,
  { saved, modules }: Extract<Task, { readonly type: 'ReloadFiles' }>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (modules !== undefined) return await reloadModules(operator, modules, signal);
  operator.converge.beginReload();
  try {
    return await reload(operator, saved, signal);
  } finally {
    operator.converge.endReload();
  }
}

/**
 * Modules whose files are lost stop, those whose files are back start anew, and those that were removed end. The others go on
 * as they are.
 */
async function reloadModules(
  operator: ReloadFilesParts,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { registry, log, router, converge } = operator;
  const old = registry.modules;
  const before = new Map(old.map((module) => [module.name, module]));
  await operator.sources.reloadModules(names);
  let isDecided = true;
  for (const module of registry.modules.filter(({ name }) => names.has(name))) {
    const { name, refusal } = module;
    const was = before.get(name)?.refusal;
    if (refusal?.reason === was?.reason && before.has(name)) continue;
    const tracked = registry.tracked.get(name);
    if (tracked !== undefined) await stopRuns(operator, tracked, signal);
    if (refusal === undefined) {
      isDecided = false;
      log.info({ module: name, path: module.path }, 'Files of the module are back: it runs again');
    } else if (refusal.type !== 'unauthorized')
      log.error(
        { module: name, reason: refusal.reason, fix: refusal.remedy },
        REFUSED_MESSAGES[refusal.type],
      );
  }
  converge.releaseFromPurge(names);
  const isRemoved = await endRemoved(operator, old, signal);
  if ((isRemoved || !isDecided) && registry.discovery !== undefined)
    router.restartConverge('ReloadAllModules', FILES_CHANGED);
  if (isRemoved) lookForReleases(operator, FILES_CHANGED);
  return { type: 'success' };
}

/** What a reload did, for the report about the saved files. */
interface Reloaded {
  /** What became of hooks, by path. */
  readonly hooks: Map<string, string>;
  readonly modules: Map<ModuleName, ModuleReload>;
}

const UNUSED = 'it is not used as a hook, and nothing runs again';

async function reload(
  operator: ReloadFilesParts,
  saved: readonly SavedFile[],
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { registry } = operator;
  const before = registry.modules;
  const reloaded: Reloaded = { hooks: new Map(), modules: new Map() };
  const areRead = await attempt(operator, 'modules', () => operator.sources.reloadModules());
  const isRemoved = await endRemoved(operator, before, signal);
  operator.converge.releaseFromPurge(new Set(registry.modules.map(({ name }) => name)));
  const started: HookRuntime[] = [];
  await attempt(operator, 'global hooks', async () => {
    const onUnused = (path: string): void => void reloaded.hooks.set(path, UNUSED);
    const loaded = await operator.sources.loadGlobalHooks(signal, { onUnused });
    started.push(...(await replaceGlobalHooks(operator, loaded, reloaded, signal)));
  });
  // Those that are stopped may be made anew meanwhile.
  const modules = [...registry.tracked.values()];
  for (const tracked of modules) await reloadHooksOf(operator, tracked, reloaded, signal);
  // The converge of the start comes anyway, when the global hooks are ready for it.
  if (registry.discovery !== undefined) operator.router.restartConverge('ReloadAllModules', FILES_CHANGED);
  if (isRemoved) lookForReleases(operator, FILES_CHANGED);
  for (const runtime of editedHooks(operator, saved)) {
    if (started.includes(runtime)) continue;
    const plan = rerunEdited(operator, runtime);
    reloaded.hooks.set(runtime.hook.path, `hook ${fullName(runtime.hook)} ${describeEdit(plan)}`);
  }
  operator.router.main.prepend(...onStartupRuns(started), ...enableTasks(started));
  reportSaved(operator, saved, before, areRead ? reloaded : { ...reloaded, modules: notLoaded(before) });
  return { type: 'success' };
}

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
      return await stopRuns(operator, tracked, signal);
    }
    if (hooks === undefined) return;
    const loaded = await operator.sources.loadModuleHooks(module, signal);
    const known = hooks.map((runtime) => runtime.hook);
    if (isSame(known, loaded)) return;
    reloaded.modules.set(module.name, 'restarted');
    await operator.removal.stop(tracked, signal);
  };
  const isLoaded = await attempt(operator, `hooks of module ${module.name}`, load, module.name);
  if (!isLoaded) reloaded.modules.set(module.name, 'not-loaded');
}

function notLoaded(modules: readonly Module[]): Reloaded['modules'] {
  return new Map(modules.map(({ name }) => [name, 'not-loaded']));
}

/** So many effects are logged: a checkout of another branch changes files without number. */
const MAX_EFFECTS = 20;

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
 * Ends modules that are not among those that were read last: their authors have removed them. Their releases are removed as those
 * of modules that are gone at a start. Returns whether there are any.
 */
async function endRemoved(
  operator: ReloadFilesParts,
  before: readonly Module[],
  signal: AbortSignal,
): Promise<boolean> {
  const { registry, values } = operator;
  const removed = before.filter(({ name }) => registry.find(name) === undefined);
  for (const { name } of removed) {
    const tracked = registry.tracked.get(name);
    if (tracked !== undefined) await stopRuns(operator, tracked, signal);
    values.forgetPatches(name);
  }
  return removed.length > 0;
}

/** What runs of it ends; its release stays as it is. */
async function stopRuns(
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

/** Returns the hooks that are to be started. */
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

/** Whether hooks have the same names and configurations. */
function isSame(a: readonly Hook[], b: readonly Hook[]): boolean {
  const essence = (hooks: readonly Hook[]) =>
    hooks.map(({ name, path, config, batch }) => ({ name, path, config, batch }));
  return isDeepStrictEqual(essence(a), essence(b));
}
