// The view of the running operator: this room reads the state of all other rooms and changes
// nothing. `createView` is the object that `server/` serves as JSON, pages and the debug endpoint.
// Every member is computed when it is requested, so a response is never older than its request;
// only `render`, `changes` and the helm members send requests or start processes.

import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';
import type { JsonObject } from '@addon-operator/json';
import type { ApiHealth } from '@addon-operator/kube-client/api-health';
import type { ResourceAccess } from '@addon-operator/kube-client/policy-rules';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import { headlineOf } from '@addon-operator/strings/headline';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { Delivery } from '../delivery/delivery.ts';
import type { Hook } from '../hooks/hook.ts';
import type { Journal } from '../journal/journal.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleExtensions } from '../model/services.ts';
import { countsForConverge, describeTask, type Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import { allRuntimes, problemsShown, staleBindings } from '../queues/binding-problems.ts';
import { isolatedModules } from '../queues/isolation.ts';
import { listedQueues, taskQueueViews } from '../queues/task-queue-view.ts';
import { unfinishedRuns } from '../queues/unfinished-runs.ts';
import { type WellFactsParts, wellFacts } from '../reconcile/well-facts.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type {
  ConvergeStatus,
  DaemonView,
  GraphModule,
  ModuleRenderOptions,
  ModuleView,
  QueueView,
  ReplicaReadiness,
  SectionView,
  ValuesPatchView,
} from '../status/daemon-view.ts';
import { changedSince, type ModuleChanged } from '../status/module-changed.ts';
import { operatorStatus, STARTING_STATUS } from '../status/operator-status.ts';
import type { ReleaseObjects } from '../status/release-objects.ts';
import { GLOBAL_SECTION, type ModuleName, sectionOf, type ValuesOwner } from '../values/module-key.ts';
import { layeredValues } from '../values/value-layers.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToHelm } from '../values/visible-values.ts';
import { collectOperatorFacts, runningHooks } from './collect-operator-facts.ts';
import { driftOf } from './explain-drift.ts';
import { moduleStatuses, summarizeModules } from './explain-module.ts';
import { deliveryState } from './explain-update.ts';
import { explainWhy } from './explain-why.ts';
import type { Explained } from './explained.ts';
import { hookPatchViews, hookViews, snapshotViews, watchViews } from './hook-details.ts';
import { nextItems } from './next-items.ts';
import { versionViews } from './version-views.ts';

/** The objects of a revision, as YAML. */
export interface RevisionManifest {
  readonly revision: number;
  readonly manifest: string;
}

/**
 * The parts that views are read from. The two comparisons are injected, because they need the live
 * cluster, or masking.
 */
export interface ViewDeps {
  readonly operator: Explained;
  /** Whether the API server responds. */
  readonly health: Pick<ApiHealth, 'outage'>;
  readonly journal: Journal;
  readonly values: ValuesStore;
  /** What is known of the files of modules. */
  readonly memory: WellFactsParts['memory'];
  readonly extensions: Pick<ModuleExtensions, 'releaseSteps'>;
  readonly helm: Pick<HelmDriver, 'render' | 'manifest' | 'monitors' | 'history'>;
  /** Namespace of the releases. */
  readonly namespace: string;
  /**
   * The changes that an upgrade between two manifests would make in the cluster, for people; empty
   * if there are none.
   */
  readonly compare: (
    manifests: { readonly manifest: string; readonly deployed: string },
    signal: AbortSignal,
  ) => Promise<string>;
  /** The objects of a manifest as they are in the cluster, without drift. */
  readonly readObjects: (manifest: string, signal: AbortSignal) => Promise<ReleaseObjects>;
  /** The difference between two revisions of a release, for people; empty if there is none. */
  readonly compareRevisions: (from: RevisionManifest, to: RevisionManifest) => string;
  /** Modules that come from sources; absent where there is no module store. */
  readonly delivery?: Pick<Delivery, 'history' | 'view'> | undefined;
  /** The permissions that the patches of hooks have needed so far. */
  readonly patchAccess: () => readonly ResourceAccess[];
}

/**
 * The head of a rendering that the reconcile webhook, which is not called here, may still change.
 */
const OPEN_NOTE =
  '# The reconcile webhook of the module would be called with these objects, and may change them\n';

/** The response instead of an empty difference. */
const NO_DIFFERENCE = 'No diff found\n';

/** The view before the operator is built: nothing has begun. */
export const STARTING_VIEW: Pick<DaemonView, 'readiness' | 'convergeStatus' | 'status'> = {
  readiness: () => ({ type: 'converging' }),
  convergeStatus: () => ({ type: 'not-started' }),
  status: () => STARTING_STATUS,
};

/** Creates the view of the operator for the HTTP server and the debug endpoint. */
export function createView(deps: ViewDeps): DaemonView {
  const { operator, health, journal, helm } = deps;
  const { clock } = operator;
  // A comparison starts helm: repeated requests for one module wait for each other instead of
  // starting many.
  const comparisons = new KeyedLock();
  return {
    readiness: () => readinessOf(operator),
    convergeStatus: () => convergeStatus(operator),
    status: () => operatorStatus(collectOperatorFacts(operator, health, journal)),
    runningHooks: () => runningHooks(operator),
    queues: () => operator.queues.all.map((queue) => queueView(queue, clock)),
    unfinishedRuns: () => unfinishedRuns(operator),
    taskQueues: (maxTasks) => taskQueueViews(operator, maxTasks),
    stateKey: () => stateKeyOf(operator, journal),
    journal,
    next: (withinMs, limit) => nextItems(operator, withinMs, limit),
    delivery: () => deps.delivery?.view() ?? { sources: [], installs: [] },
    deliveryState: () => deliveryState(operator),
    enabledModules: () => operator.registry.enabled,
    modules: () => summarizeModules(operator),
    moduleGraph: () => moduleGraph(operator),
    explainModule: async (name, signal) => {
      const explanation = explainWhy(operator, name, await operator.releases.list(signal));
      const module = operator.registry.find(name);
      if (explanation === undefined || explanation.failure === null || module === undefined)
        return explanation;
      return { ...explanation, changed: changedOf(deps, module) };
    },
    globalHooks: () => operator.globalHooks.runtimes.map(({ hook }) => hook.name),
    global: sectionView(deps, GLOBAL_SECTION, () => operator.globalHooks.runtimes),
    module: (name) => moduleView(deps, comparisons, name),
    watches: () => watchViews(allRuntimes(operator), operator.clock),
    patchAccess: () => deps.patchAccess().map((access) => ({ ...access })),
    monitoredResources: () =>
      Object.fromEntries(
        operator.registry.enabled.map((name) => [
          name,
          helm.monitors.resources(name)?.map((title) => inNamespace(title, deps.namespace)),
        ]),
      ),
  };
}

// Clients poll this key, and fetch the rest only when it differs: it must be cheap and change with
// every queue.
function stateKeyOf({ queues }: Explained, { revision }: Journal): string {
  const parts = listedQueues(queues).map(({ queue: { name, length, status, entries }, keys }) =>
    [name, length, keys, status.type, entries[0]?.id, entries.at(-1)?.id].join(' '),
  );
  return `${revision}\n${parts.join('\n')}`;
}

/**
 * The readiness for probes. Stale bindings are only warnings: a restart would not make the API
 * server respond.
 */
function readinessOf(operator: Explained): ReplicaReadiness {
  const type = operator.converge.first === 'done' ? 'converged' : 'converging';
  const warnings = staleBindings(allRuntimes(operator), operator.clock).map(({ text }) => text);
  return { type, ...(warnings.length > 0 && { warnings }) };
}

/**
 * The title of an object; without a namespace in its manifest, also for a cluster-scoped kind, that
 * of the release.
 */
function inNamespace(title: string, namespace: string): string {
  return title.startsWith('/') ? `${namespace}${title}` : title;
}

/**
 * The modules in run order with their requirements, for the graph of the page. Shapes are those of
 * `server/api`.
 */
function moduleGraph(operator: Explained): readonly GraphModule[] {
  const statuses = moduleStatuses(operator);
  return operator.registry.modules.map(({ name, order, manifest }) => ({
    name,
    order,
    status: statuses.get(name) ?? '',
    requires: manifest.requires,
  }));
}

/**
 * The progress for scripts that wait for the converge: the number of its tasks left in `main`, and
 * the modules it continued without.
 */
function convergeStatus(operator: Explained): ConvergeStatus {
  const tasks = operator.router.main.entries.filter(({ task }) => countsForConverge(task)).length;
  switch (operator.converge.first) {
    case 'not-started':
      return { type: 'not-started' };
    case 'running':
      return { type: 'first', tasks, ...isolatedFact(operator) };
    case 'done':
      return { type: 'done', tasks, ...isolatedFact(operator) };
  }
}

/**
 * Modules that the converge continued without, isolated or stalled, in run order; absent without
 * any.
 */
function isolatedFact(operator: Explained): { readonly isolated?: readonly string[] } {
  const alone = isolatedModules(operator);
  const isolated = operator.registry.modules
    .map(({ name }) => name)
    .filter((name) => alone.includes(name) || operator.registry.tracked.get(name)?.stall !== undefined);
  return isolated.length === 0 ? {} : { isolated };
}

/**
 * One queue as `queue list` prints it: one line per task, with the failures and the first line of
 * the last error.
 */
function queueView(queue: TaskQueue<Task>, clock: SteadyClock): QueueView {
  return {
    // The words are those of the Go operator.
    name: queue.name,
    status: statusText(queue, clock.steadyMs()),
    tasks: queue.entriesFromRunning.map(({ task, failures, lastError }, position) => ({
      index: position + 1,
      description: `${describeTask(task, queue.name)}${failures === 0 ? '' : `:failures ${failures}:${headlineOf(lastError)}`}`,
    })),
  };
}

function statusText({ status }: TaskQueue<Task>, nowMs: number): string {
  switch (status.type) {
    case 'idle':
      return '';
    case 'queued':
      return 'wait for other keys';
    case 'waiting':
      return `waiting for task ${Math.floor((nowMs - status.sinceMs) / 1_000)}s`;
    case 'running':
      // `repeating`: the head waits for something and stays in its place.
      return 'run first task';
    case 'repeating':
      return 'repeat head task';
    case 'delayed': {
      const leftMs = Math.max(0, status.sinceMs + status.delayMs - nowMs);
      const seconds = (ms: number): string => `${Math.round(ms / 1_000)}s`;
      return `sleep after fail for ${formatGoDuration(status.delayMs)} (${seconds(leftMs)} left of ${seconds(status.delayMs)} delay)`;
    }
    case 'stopped':
      return 'stop';
  }
}

/**
 * The view of one module; undefined for an unknown name. Only its members that read releases or
 * render need the API server.
 */
function moduleView(deps: ViewDeps, comparisons: KeyedLock, text: string): ModuleView | undefined {
  const { operator, helm, compareRevisions } = deps;
  const module = operator.registry.find(text);
  if (module === undefined) return undefined;
  const { name } = module;
  return {
    ...sectionView(deps, name, () => operator.registry.tracked.get(name)?.hooks ?? []),
    valuesKey: sectionOf(name),
    drift: () => driftOf(operator, name),
    changed: () => changedOf(deps, module),
    objects: (signal) => objectsOf(deps, name, signal),
    history: (signal) => helm.history.list(name, signal),
    versions: (revisions) => versionViews(deps.delivery?.history(name) ?? [], revisions),
    // Both at once, since each takes a request.
    compareRevisions: async ({ from, to }, signal) => {
      const [before, after] = await Promise.all(
        [from, to].map((revision) => helm.history.manifest(name, revision, signal)),
      );
      if (before === undefined || after === undefined) return undefined;
      return compareRevisions({ revision: from, manifest: before }, { revision: to, manifest: after });
    },
    render: (options, signal) => rendered(deps, module, options, signal),
    changes: (signal) =>
      comparisons.run(name, signal, () => rendered(deps, module, { isDebug: false, isDiff: true }, signal)),
  };
}

/** The objects of a release with what others changed. */
async function objectsOf(
  { operator, helm, readObjects, namespace: own }: ViewDeps,
  name: ModuleName,
  signal: AbortSignal,
): Promise<ReleaseObjects> {
  const { objects, eventsProblem } = await readObjects(await helm.manifest(name, signal), signal);
  const drifted = driftOf(operator, name)?.objects ?? [];
  const fields = new Map(drifted.map((object) => [inNamespace(object.resource, own), object.fields]));
  const titleOf = ({ namespace, kind, name: object }: (typeof objects)[number]): string =>
    `${namespace || own}/${kind}/${object}`;
  return {
    objects: objects.map((object) => ({ ...object, drift: fields.get(titleOf(object)) ?? [] })),
    eventsProblem,
  };
}

/** What changed since the last good run of a module. */
function changedOf({ operator, journal, values, memory }: ViewDeps, module: Module): ModuleChanged {
  const { name } = module;
  const well = journal.wells.of(name);
  const now = wellFacts({ values, memory, journal }, module);
  return changedSince(
    well && { ...well, at: isoTime(well.atMs) },
    now,
    driftOf(operator, name)?.objects ?? [],
  );
}

/**
 * The rendering of a module's chart, or its difference to what is deployed. Empty for a module
 * without a chart.
 */
async function rendered(
  { values, extensions, helm, compare }: ViewDeps,
  module: Module,
  { isDebug, isDiff }: ModuleRenderOptions,
  signal: AbortSignal,
): Promise<string> {
  if (module.chart === 'none') return '';
  // Extensions are part of the rendering, as in a deployment; open ones only with their preview.
  const steps = await extensions.releaseSteps(module, signal);
  const request = { module, values: visibleToHelm(values, module.name), steps };
  const manifest = await helm.render(request, signal, { isDebug });
  const note = steps?.isOpen === true ? OPEN_NOTE : '';
  if (!isDiff) return `${note}${manifest}`;
  const deployed = await helm.manifest(module.name, signal);
  const changes = await compare({ manifest, deployed }, signal);
  return `${note}${changes === '' ? NO_DIFFERENCE : changes}`;
}

/**
 * The view of one section of the values: the global one, or that of a module with the hooks that
 * belong to it.
 */
function sectionView(
  { operator, values, journal }: ViewDeps,
  owner: ValuesOwner,
  runtimes: () => readonly HookRuntime[],
): SectionView {
  return {
    values: () => values.writtenValues(owner),
    configValues: () => values.configValues(owner) ?? {},
    patches: () => {
      const dump = values.patchesDump(owner);
      // The store guarantees the shape: null or a list of patches.
      return dump === null ? undefined : (dump as unknown as readonly ValuesPatchView[]);
    },
    snapshots: () => snapshotsOf(runtimes(), operator.clock),
    layeredValues: () => layeredValues(values, owner),
    hookPatches: () => hookPatchViews(values, owner),
    hookSnapshots: () => snapshotViews(runtimes()),
    hooks: () => hookViews({ ...operator, journal }, runtimes()),
  };
}

function snapshotsOf(runtimes: readonly HookRuntime[], clock: Clock): JsonObject {
  return Object.fromEntries(
    runtimes
      .filter(({ hook }) => hook.config.kubernetes.length > 0)
      .map((runtime) => [runtime.hook.name, snapshotsOfHook(runtime, runtime.hook, clock)]),
  );
}

/**
 * The snapshots of one hook by binding, with the counts of operations. `peek` is used, because a
 * view must not drop events that are held back for the hook.
 */
function snapshotsOfHook(runtime: HookRuntime, hook: Hook, clock: Clock): JsonObject {
  return Object.fromEntries(
    hook.config.kubernetes.map((binding) => [
      binding.name,
      {
        operations: runtime.operations(binding.index) as unknown as JsonObject,
        // Items are JSON already: objects from the API server, or filter results.
        snapshot: runtime.peek(binding.index) as unknown as JsonObject[],
        ...problemsShown(runtime.health(binding.index), clock),
      },
    ]),
  );
}
