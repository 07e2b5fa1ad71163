import { join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { JsonObject } from '@addon-operator/json';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { SwitchRefusal, SwitchRequest } from '../delivery/module-switch.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { Journal } from '../journal/journal.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { PendingUpdates } from '../model/pending-updates.ts';
import type { Releases } from '../model/releases.ts';
import type { ModuleCrds, ModuleReading, ModuleSources } from '../model/services.ts';
import type { RequestedSwitch, SwitchRequests } from '../model/switch-requests.ts';
import { FILES_CHANGED, type Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import { filesOf, type Module } from '../modules/module.ts';
import { REFUSED_MESSAGES } from '../modules/refusal.ts';
import type { LateTick } from '../queues/late-ticks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { lookForReleases } from '../reconcile/finish-deletion.ts';
import type { ModuleRemoval } from '../reconcile/module-delete.ts';
import { hasOtherResult } from '../reconcile/retry-enabled-scripts.ts';
import { parseSection } from '../values/config-map-content.ts';
import { keyOfName, type ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type AcceptedVersion, type CheckVersionParts, checkVersion } from './check-version.ts';
import { type ModuleChange, moduleChange } from './module-change.ts';
import type { StoredSwitch } from './requested-switch.ts';

/** The parts that modules are taken over with. */
export interface SwitchModulesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly journal: Pick<Journal, 'marks'>;
  readonly releases: Pick<Releases, 'stopMonitor'>;
  readonly sources: Pick<ModuleSources, 'readAgain' | 'rediscover'>;
  readonly removal: Pick<ModuleRemoval, 'stop'>;
  readonly values: Pick<ValuesStore, 'forgetPatches' | 'setConfigSection'>;
  readonly crds: Pick<ModuleCrds, 'has'>;
  readonly checking: CheckVersionParts;
  readonly switching: SwitchingParts;
}

/** Requested and refused switches, and the store that they change; undefined without one. */
export interface SwitchingParts {
  readonly updates: PendingUpdates;
  readonly requests: SwitchRequests;
  readonly stored: StoredSwitch | undefined;
  readonly clock: Pick<Clock, 'wallMs'>;
}

/** A module whose files were read again, with the decision about it. */
interface Found {
  readonly name: ModuleName;
  readonly old: Module | undefined;
  readonly next: Module | undefined;
  readonly change: ModuleChange;
  readonly requested: RequestedSwitch | undefined;
  /** The section of the ConfigMap that comes with a requested switch. */
  readonly section: JsonObject | undefined;
}

/** A module that is taken over. */
type Taken = Found & { readonly accepted: AcceptedVersion | undefined };

/**
 * Carries out ReloadFiles for some modules, which `reconcile/directory-looks.ts` queues when their
 * files are lost, back, switched, new or removed, and `requested-switch.ts` for a requested version. A
 * version is loaded and checked while the old one runs; only then the old hooks are stopped, and the
 * registry gets the new module. A version that is refused leaves everything as it is.
 */
export async function switchModules(
  operator: SwitchModulesParts,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const requests = [...names].flatMap((name) => operator.switching.requests.of(name) ?? []);
  try {
    const candidates = requests.flatMap(({ request }) => candidateOf(operator, request));
    const reading = await operator.sources.readAgain({ only: names, candidates });
    const taken = await takeOver(operator, reading, { isEdited: false, requests }, signal);
    return { type: 'success', after: await followingTasks(operator, taken, signal) };
  } catch (error) {
    for (const requested of requests) finish(operator, requested, () => requested.reject(error));
    throw error;
  }
}

function candidateOf(
  { switching: { stored } }: SwitchModulesParts,
  { entry, digest, isReturn = false }: SwitchRequest,
) {
  if (stored === undefined) return [];
  return [{ entry: join(stored.currentDir, entry), path: stored.pathOf(digest), isReturn }];
}

/**
 * Decides about each module that was read, and takes over what may run.
 *
 * @returns the modules that were taken over
 */
export async function takeOver(
  operator: SwitchModulesParts,
  reading: ModuleReading,
  { isEdited, requests }: { readonly isEdited: boolean; readonly requests: readonly RequestedSwitch[] },
  signal: AbortSignal,
): Promise<readonly Taken[]> {
  const taken: Taken[] = [];
  for (const name of reading.names) {
    const old = operator.registry.find(name);
    const next = reading.modules.get(name);
    const requested = requests.find(({ request }) => request.module === name);
    const change = moduleChange(old, next, { isEdited });
    const section = requested && sectionOf(requested.request);
    const found = { name, old, next, change, requested, section };
    const verdict = await verdictOn(operator, found, reading, signal);
    if (verdict?.type === 'refused') refuse(operator, found, verdict);
    else if (change !== 'none' || requested !== undefined) taken.push({ ...found, accepted: verdict });
  }
  const commit = await prepare(operator, reading, taken, signal);
  for (const each of commit.taken) await stopOld(operator, each, signal);
  await commit.run();
  for (const each of commit.taken) finishTaking(operator, each);
  operator.converge.releaseFromPurge(new Set(operator.registry.modules.map(({ name }) => name)));
  return commit.taken;
}

/** The checks of a version that takes the place of another one; undefined where none is necessary. */
async function verdictOn(
  { checking, switching }: SwitchModulesParts,
  { change, next, requested, section }: Found,
  reading: ModuleReading,
  signal: AbortSignal,
): Promise<AcceptedVersion | SwitchRefusal | undefined> {
  const digest = requested?.request.digest;
  if (digest !== undefined && (next === undefined || filesOf(next) !== switching.stored?.pathOf(digest)))
    return {
      type: 'refused',
      reason: 'NotLoadable',
      message:
        next?.refusal?.reason ??
        `the module is in ${next && filesOf(next)}, which comes before the module store`,
    };
  const isChecked = change === 'switch' || change === 'refuse' || requested !== undefined;
  return isChecked && next !== undefined
    ? await checkVersion(checking, { module: next, reading, section }, signal)
    : undefined;
}

/** Prepares what can fail. A version that cannot be prepared is refused, and the others go on. */
async function prepare(
  operator: SwitchModulesParts,
  reading: ModuleReading,
  taken: readonly Taken[],
  signal: AbortSignal,
): Promise<{ readonly taken: readonly Taken[]; readonly run: () => Promise<void> }> {
  try {
    const run = await reading.prepare(new Set(taken.map(({ name }) => name)));
    return { taken, run };
  } catch (error) {
    rethrowAbort(error, signal);
    const refused = taken.filter(({ accepted }) => accepted !== undefined);
    if (refused.length === 0) throw error;
    for (const each of refused)
      refuse(operator, each, { type: 'refused', reason: 'NotLoadable', message: messageOf(error) });
    return await prepare(
      operator,
      reading,
      taken.filter(({ accepted }) => accepted === undefined),
      signal,
    );
  }
}

/** Stops the old version. The link goes first: if the process dies now, the new version starts. */
async function stopOld(
  operator: SwitchModulesParts,
  { name, change, accepted, requested, section }: Taken,
  signal: AbortSignal,
): Promise<void> {
  const { registry, switching, values } = operator;
  if (requested !== undefined) await switching.stored?.commit(requested.request, section, signal);
  if (change === 'none' || change === 'refresh' || change === 'delete') return;
  const tracked = registry.tracked.get(name);
  if (tracked !== undefined) {
    if (change === 'switch') await stopForNext(operator, tracked, signal);
    else await stopRuns(operator, tracked, signal);
  }
  // The values that hooks of the old version have set are not those of the new one.
  if (accepted !== undefined || change === 'end') values.forgetPatches(name);
}

function finishTaking(operator: SwitchModulesParts, taken: Taken): void {
  const { log, switching, values } = operator;
  const { name: module, accepted, change, next, old, requested, section } = taken;
  if (section !== undefined) values.setConfigSection(module, section);
  accepted?.keep();
  switching.updates.clear(module);
  const { keptCrds = [] } = accepted ?? {};
  if (requested !== undefined)
    finish(operator, requested, () => requested.resolve({ type: 'switched', keptCrds }));
  const { path, version, refusal } = next ?? {};
  const text = markText(change, old?.version, version);
  if (text !== undefined) operator.journal.marks.add({ kind: 'version', module, text });
  if (refusal !== undefined && refusal.reason !== old?.refusal?.reason && refusal.type !== 'unauthorized')
    log.error({ module, reason: refusal.reason, fix: refusal.remedy }, REFUSED_MESSAGES[refusal.type]);
  else if (change === 'return') log.info({ module, path }, 'Files of the module are back: it runs again');
  else if (change === 'switch')
    log.info({ module, path, version, before: old?.version }, 'Module is switched to another version');
  else if (change === 'start') log.info({ module, path, version }, 'Module is new');
  else if (change === 'delete') log.info({ module }, 'Module was removed from the module store');
}

/** What the timeline says of a change; undefined for one that nobody would look for. */
function markText(change: ModuleChange, before = '', version = ''): string | undefined {
  switch (change) {
    case 'switch':
      return before === version ? 'other files' : `version ${before || 'unknown'} → ${version || 'unknown'}`;
    case 'start':
      return `new module ${version}`.trimEnd();
    case 'return':
      return 'its files are back';
    case 'hold':
      return 'held: its files cannot be used';
    case 'delete':
    case 'end':
      return 'removed';
    case 'none':
    case 'refresh':
    case 'refuse':
      return undefined;
  }
}

/** The old version goes on; everybody can see why. */
function refuse(operator: SwitchModulesParts, found: Found, refusal: SwitchRefusal): void {
  const { log, switching } = operator;
  const { name: module, next, requested } = found;
  const { reason, message } = refusal;
  const version = requested?.request.version ?? next?.version;
  const digest = requested?.request.digest ?? (next && switching.stored?.digestOf(filesOf(next)));
  const update = { version, digest, reason, message, sinceMs: switching.clock.wallMs() };
  if (switching.updates.set(module, update))
    log.error(
      { module, version, reason, error: message },
      'Version of the module is refused, the old one goes on',
    );
  if (requested !== undefined) finish(operator, requested, () => requested.resolve(refusal));
}

function finish({ switching }: SwitchModulesParts, requested: RequestedSwitch, settle: () => void): void {
  switching.requests.finish(requested);
  settle();
}

/** @throws OperatorError CONFIG_MAP_INVALID */
function sectionOf({ module, section }: SwitchRequest): JsonObject | undefined {
  return section === undefined ? undefined : parseSection(keyOfName(module), section);
}

/** Stops a version of a module. The next one serves the ticks of schedules that waited. */
export async function stopForNext(
  operator: Pick<SwitchModulesParts, 'releases' | 'removal' | 'router'>,
  tracked: TrackedModule,
  signal: AbortSignal,
): Promise<void> {
  const ticks = await stopRuns(operator, tracked, signal);
  operator.router.lateTicks.keep(tracked.module.name, ticks);
}

/**
 * Stops the running parts of a module; its release stays. Runs in progress in other queues end first, so that
 * no hook of the next version begins beside them.
 *
 * @returns ticks of schedules that were not served
 */
export async function stopRuns(
  operator: Pick<SwitchModulesParts, 'releases' | 'removal'>,
  tracked: TrackedModule,
  signal: AbortSignal,
): Promise<readonly LateTick[]> {
  const { hooks = [] } = tracked;
  await operator.releases.stopMonitor(tracked.module.name);
  const ticks = await operator.removal.stop(tracked, signal);
  await Promise.all(hooks.map((runtime) => runtime.endRuns()));
  return ticks;
}

/**
 * The runs of switched modules; a converge where other modules may be enabled now. A module that is
 * gone for good is not known to a converge, so its release is looked for.
 */
async function followingTasks(
  operator: SwitchModulesParts,
  taken: readonly Taken[],
  signal: AbortSignal,
): Promise<readonly Task[]> {
  const { crds, registry, router, sources } = operator;
  const { discovery } = registry;
  const has = (...changes: readonly ModuleChange[]): boolean =>
    taken.some(({ change }) => changes.includes(change));
  if (has('end')) lookForReleases(operator, FILES_CHANGED);
  if (discovery === undefined) return [];
  const switched = taken.filter(({ change }) => change === 'switch').map(({ name }) => name);
  const isOther =
    has('start', 'return', 'delete', 'end') ||
    (switched.length > 0 &&
      hasOtherResult(discovery, await sources.rediscover(registry.modules, registry.before, signal)));
  if (isOther) {
    router.restartConverge('ReloadAllModules', FILES_CHANGED);
    return [];
  }
  const runs = switched.filter((name) => registry.isEnabled(name));
  for (const name of runs) router.changes.note(name);
  return runs
    .filter((name) => !router.isModuleRunPending(name))
    .flatMap((name): readonly Task[] => {
      const run = router.moduleRun(name, FILES_CHANGED);
      const ensure: Task = { type: 'ModuleEnsureCRDs', module: name, trigger: FILES_CHANGED };
      return crds.has(name) ? [ensure, run] : [run];
    });
}
