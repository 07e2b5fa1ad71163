import { componentLog } from '@addon-operator/base/log';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { TaskHandler } from '@addon-operator/task-queue';
import { parseHelmYaml } from '@addon-operator/yaml';
import { createAuthorization } from '../extensions/create-authorization.ts';
import { createExecution, createRunParts, scriptParts } from '../hook-runs/execution-parts.ts';
import { createHookLoader, createRuntime } from '../hook-runs/hook-parts.ts';
import { createRecording } from '../hook-runs/recorded-runs.ts';
import { createSchedules, type Schedules } from '../hook-runs/schedules.ts';
import { SettingsChecks, type SettingsChecksParts } from '../hook-runs/settings-checks.ts';
import { loadGlobalHooks } from '../hooks/load-hooks.ts';
import { Journal } from '../journal/journal.ts';
import type { Lead } from '../leader/take-lead.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { ConvergeState } from '../model/converge-state.ts';
import { GlobalHooks } from '../model/global-hooks.ts';
import { createHandOvers, type HandOvers } from '../model/hand-overs.ts';
import {
  enabledWith,
  type LoneModule,
  NO_DIRECTORY_MEMORY,
  onlyContentOf,
  onlyReleaseOf,
  sourcesOf,
} from '../model/lone-module.ts';
import { createFlags, discoveries } from '../model/module-flags.ts';
import { ModuleOperations } from '../model/module-operations.ts';
import { ModuleRegistry } from '../model/module-registry.ts';
import { operatorPolicy } from '../model/operator-policy.ts';
import { loadPauses, type Pauses } from '../model/pauses.ts';
import { releasesOf } from '../model/releases.ts';
import { RunAborts } from '../model/run-aborts.ts';
import { eventIds } from '../model/task-origin.ts';
import type { Task } from '../model/tasks.ts';
import { createCrds } from '../modules/crds/crds-of-modules.ts';
import type { Module } from '../modules/module.ts';
import { createModuleHooks } from '../modules/module-hooks.ts';
import { createExtensionParts } from '../operator/extension-parts.ts';
import { createFileWaits, type FileWaits } from '../operator/file-waits.ts';
import type { Operator } from '../operator/operator.ts';
import { onSecretsChange } from '../operator/secret-changes.ts';
import { taskHandler } from '../operator/task-pipeline.ts';
import { createQueues } from '../queues/create-queues.ts';
import { TaskRouter } from '../queues/task-router.ts';
import { TaskTraces } from '../queues/task-traces.ts';
import { DeployHooks } from '../reconcile/deploy-hooks.ts';
import { directoryMemory } from '../reconcile/directory-memory.ts';
import { helmReports } from '../reconcile/helm-reports.ts';
import { ModuleFiles, type ModuleFilesOptions } from '../reconcile/module-files.ts';
import { fileSetStore, ModuleMemory } from '../reconcile/module-memory.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import { ownedReleases } from '../releases/owned-releases.ts';
import { startHelm } from '../releases/start-helm.ts';
import { createAnnotatedOperations, watchAnnotations } from '../requests/requested-operations.ts';
import type { Settings } from '../settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { memoryRef } from '../values/config-map-presence.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { editCommand, takeConfig } from '../values/operator-config-map.ts';
import { createSecrets } from '../values/secrets/secret-parts.ts';
import { ValuesStore } from '../values/values-store.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** What the operator is built from. */
export interface BuildOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  readonly metrics: OperatorMetrics;
  readonly hookMetrics: HookMetrics;
  readonly configMap: ConfigMapStore;
  /** The Module objects in the cluster; undefined where there are none. */
  readonly objects: ModuleObjects | undefined;
  /** Takes the content of Secrets out of logs, errors and responses. */
  readonly redactor: Redactor;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
  /** The ports of webhooks that another replica can take over; undefined where there is one replica only. */
  readonly heldPorts: Lead['heldPorts'];
  /** What is started later is entered here. */
  readonly running: AsyncDisposableStack;
  /** Default: it runs all modules. */
  readonly variant?: OperatorVariant;
}

/** How an operator is different. */
export interface OperatorVariant {
  /** Shows that the start waits for a file that can be loaded; see {@link FileWaits}. */
  readonly onWait?: Parameters<typeof createFileWaits>[0]['onWait'];
  /** Nothing is run, and nothing is written to the cluster. */
  readonly isInspection?: true;
  /** The only module that it runs. */
  readonly lone?: LoneModule | undefined;
}

export interface BuiltOperator {
  readonly operator: Operator;
  /** Runs one attempt of a task; the queues are started with it. */
  readonly handle: TaskHandler<Task>;
  readonly schedules: Schedules;
  readonly pauses: Pauses;
  readonly handOvers: HandOvers;
  readonly helm: HelmDriver;
  /** Loads files, and with an author at work waits for those that cannot be loaded. */
  readonly loads: FileWaits;
}

/**
 * Finds the modules and puts the operator together; nothing runs yet. A part is created after all parts that it uses, so
 * this function is also the map of who uses whom: modules and values, then the registry and the queues, then the router
 * that fills them, then helm and the hooks, which report to the router. `start.ts` starts the result.
 *
 * @throws OperatorError for directories and values files that cannot be used
 */
// oxlint-disable-next-line max-lines-per-function -- it is the map of who uses whom, which is clear only in one piece
export async function buildOperator(options: BuildOptions): Promise<BuiltOperator> {
  const { settings, host, base, metrics, configMap, redactor, stop, variant = {} } = options;
  const { lone, isInspection = false } = variant;
  const [{ clock }, recording] = [host, createRecording({ ...options, ...base })];
  const all = { ...options, ...base, kube: base.cluster.main, tap: recording.tap };
  const log = componentLog(host, 'operator');
  const traces = new TaskTraces({ ...base.tracing, clock, newEventId: eventIds(host.random) });
  const authorization = await createAuthorization({ ...all, isInspection });
  const loads = createFileWaits({ ...options, onWait: variant.onWait, isInspection });
  const crds = createCrds({ ...options, ...base.cluster, kube: base.cluster.helm });
  const memory = await memoryFor(options);
  const gate = authorization?.gate;
  const fileOptions = { ...all, lone, gate, crds, memory, ownedReleases: ownedReleasesOf(options) };
  const files = await loads.untilLoaded(() => ModuleFiles.read(fileOptions));
  const handOvers = createHandOvers(all);
  const pauses = await pausesFor(options, files, handOvers);
  const secrets = createSecrets(all);
  const values = new ValuesStore(files.found.staticValues, secrets.values);
  const followSecrets = (): Promise<void> => secrets.follow(values, configMap.content);
  const { dynamicFlags, flags, extenders, ...flagged } = createFlags({ ...options, files });
  const isFlaggedOff = lone ? () => false : flagged.isFlaggedOff;
  await followSecrets();
  takeConfig(configMap, values, (module) => !isFlaggedOff(module));
  const registry = new ModuleRegistry(files.found.modules, isFlaggedOff);
  const [converge, globalHooks] = [new ConvergeState(editCommand(settings)), new GlobalHooks()];
  const journal = new Journal({ clock, redact: (text) => redactor.text(text), bootId: base.tracing.bootId });
  const waiting = createQueues(options, { registry, converge, traces });
  const router = new TaskRouter({
    clock,
    random: host.random,
    log,
    metrics,
    ...waiting,
    registry,
    converge,
    globalHooks,
  });
  const helm = await startHelm(all, parseHelmYaml, helmReports({ ...all, registry, router, pauses, traces }));
  const { check: run, ...runParts } = createRunParts(all);
  const execution = createExecution(
    { ...options, helm, values, dynamicFlags, followSecrets, ...runParts },
    { registry, journal, ...(lone && { enabledModules: () => enabledWith(lone) }) },
  );
  const hasHooks = ({ name }: Module): boolean => registry.tracked.get(name)?.hooks !== undefined;
  const loader = createHookLoader(all, stop);
  const moduleHooks = createModuleHooks({ ...options, loader, ...scriptParts(all, values), hasHooks });
  const releases = lone ? onlyReleaseOf(lone, releasesOf(helm)) : releasesOf(helm);
  const annotated = createAnnotatedOperations(all);
  const parts = {
    registry,
    converge,
    globalHooks,
    router,
    journal,
    operations: new ModuleOperations(annotated),
    policy: operatorPolicy(settings),
  };
  const explained = { ...parts, clock, log, ...waiting, values, pauses, releases, execution };
  const extensions = await createExtensionParts({ ...all, helm, hosts: base.http.hosts }, explained);
  if (!isInspection) await loads.untilLoaded(() => files.loadFlow());
  const schedules = createSchedules({ ...all, router });
  const webhooks = createWebhooks(all, base.reflectors, { ...explained, metrics, traces });
  const operator: Operator = {
    ...explained,
    health: base.cluster.health,
    aborts: new RunAborts(),
    recorder: recording.recorder,
    traces,
    dynamicFlags,
    metrics,
    crds,
    sources: {
      ...discoveries(moduleHooks, settings, flags, extenders, base.cluster.discovery),
      loadModuleHooks: moduleHooks.load,
      loadGlobalHooks: (...load) => loadGlobalHooks(loader, settings.globalHooksDir, ...load),
      reloadModules: (only) => files.reload({ moduleHooks, values, followSecrets, registry }, only),
      modulesDirectories: () => files.found.directories,
      ...(lone && sourcesOf(lone)),
    },
    bindings: bindingsOf({ ...base, ...waiting, host, metrics, stop, router, schedules, webhooks }),
    configMapContent: contentFor(options, files),
    followSecrets,
    settingsChecks: new SettingsChecks({ ...explained, run, record: eventsOf(options) }),
    memory,
    deployHooks: new DeployHooks({ ...explained, metrics }),
    extensions: { ...extensions, flow: () => files.flow },
    directoryMemory: lone ? NO_DIRECTORY_MEMORY : directoryMemory(all.kube, memoryRef(settings)),
    authorization,
    handOvers,
  };
  if (annotated !== undefined) watchAnnotations(annotated, operator);
  secrets.onChange((changed) => onSecretsChange(operator, changed));
  return { operator, handle: createHandler(options, operator), schedules, pauses, handOvers, helm, loads };
}

/** What is known of modules from earlier; of a lone module the operator in the cluster keeps it. */
async function memoryFor({
  settings,
  host,
  base,
  running,
  stop,
  variant,
}: BuildOptions): Promise<ModuleMemory> {
  const store = fileSetStore(base.cluster.main, memoryRef(settings));
  const memory = await ModuleMemory.load({
    store: variant?.lone === undefined ? store : undefined,
    clock: host.clock,
    log: componentLog(host, 'operator'),
    stop,
  });
  running.defer(() => memory.close());
  return memory;
}

function ownedReleasesOf({ settings, base }: BuildOptions): ModuleFilesOptions['ownedReleases'] {
  return (signal) => ownedReleases(base.cluster.main, settings, signal);
}

function bindingsOf(
  parts: Parameters<typeof createRuntime>[0] & {
    readonly router: TaskRouter;
    readonly schedules: Schedules;
    readonly webhooks: ReturnType<typeof createWebhooks>;
  },
): Operator['bindings'] {
  const { router, schedules, webhooks } = parts;
  return {
    createRuntime: (hook) => createRuntime(parts, hook, router),
    setSchedules: (runtime, isEnabled) => schedules.set(runtime, isEnabled),
    setWebhooks: (runtimes, isEnabled, signal) => webhooks.set(runtimes, isEnabled, signal),
  };
}

async function pausesFor(
  { base, variant, ...options }: BuildOptions,
  files: ModuleFiles,
  handOvers: HandOvers,
): Promise<Pauses> {
  const isLone = variant?.lone !== undefined;
  const { reflectors } = base;
  const kube = base.cluster.main;
  // Others pause modules that are none here, and hand over the one that is.
  return await loadPauses(
    { ...options, kube, reflectors, ...(!isLone && { handOvers }) },
    (module) => isLone || files.hasModule(module),
  );
}

function contentFor({ configMap, variant }: BuildOptions, files: ModuleFiles): Operator['configMapContent'] {
  const content: Operator['configMapContent'] = () => configMap.content;
  if (variant?.lone === undefined) return content;
  return onlyContentOf(content, (key) => files.found.modules.some((module) => module.key === key));
}

/** Nothing depends on an Event. */
function eventsOf({ objects, stop }: BuildOptions): SettingsChecksParts['record'] {
  return (module, event) => void objects?.record(module, event, stop).catch(() => undefined);
}

function createHandler({ redactor, objects }: BuildOptions, operator: Operator): TaskHandler<Task> {
  const handle = taskHandler(operator, redactor);
  return (...attempt) => {
    objects?.changed();
    return handle(...attempt).finally(() => objects?.changed());
  };
}
