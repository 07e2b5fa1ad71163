import { ScheduleManager } from '../events/schedule/schedule-manager.ts';
import { createAuthorization } from '../extensions/authorization/create-authorization.ts';
import { createFlowHooks } from '../extensions/flow/create-flow-hooks.ts';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import type { HelmDriver } from '../helm/helm-driver.ts';
import { startHelm } from '../helm/start-helm.ts';
import { EventBacklog } from '../hooks/event-backlog.ts';
import { loadGlobalHooks } from '../hooks/load-hooks.ts';
import { untilAnswered } from '../kube/retry.ts';
import { monotonicMs } from '../lib/clock.ts';
import { componentLog } from '../lib/component-log.ts';
import { createCrds } from '../modules/crds/crds-of-modules.ts';
import { type Extender, flagDecision, type ModuleFlags, parseExtenders } from '../modules/enablement.ts';
import { type FoundModules, findModules } from '../modules/find-modules.ts';
import type { Module, ModuleGate } from '../modules/module.ts';
import { createModuleHooks, type ModuleHooks } from '../modules/module-hooks.ts';
import { runOperation } from '../operator/ask-operation.ts';
import { ConvergeState } from '../operator/converge-state.ts';
import { queueActionMeasure } from '../operator/daemon-metrics.ts';
import { directoryMemory } from '../operator/directory-memory.ts';
import { DynamicFlags } from '../operator/dynamic-flags.ts';
import { createExecution, scriptParts } from '../operator/execution-parts.ts';
import { createExtensionParts } from '../operator/extension-parts.ts';
import { type FailedTask, failedTask } from '../operator/failed-task.ts';
import { GlobalHooks } from '../operator/global-hooks.ts';
import { helmReports } from '../operator/helm-reports.ts';
import { createRuntime } from '../operator/hook-parts.ts';
import { ModuleOperations } from '../operator/module-operations.ts';
import { ModuleRegistry } from '../operator/module-registry.ts';
import type { Operator } from '../operator/operator.ts';
import { Pauses } from '../operator/pauses.ts';
import { countQueuedEvents, queuedEvents } from '../operator/queued-events.ts';
import { checkReconcileSchedules, nextReconcile } from '../operator/reconcile-schedule.ts';
import { releasesOf } from '../operator/releases.ts';
import { createAnnotatedOperations } from '../operator/requested-operations.ts';
import { RunAborts } from '../operator/run-aborts.ts';
import { Schedules } from '../operator/schedules.ts';
import { onSecretsChange } from '../operator/secret-changes.ts';
import type { ModuleSources, OperatorPolicy } from '../operator/services.ts';
import { logAdded } from '../operator/task-log.ts';
import { eventIds, withOrigin } from '../operator/task-origin.ts';
import { taskHandler } from '../operator/task-pipeline.ts';
import { TaskRouter } from '../operator/task-router.ts';
import type { Task } from '../operator/tasks.ts';
import { QueueSet } from '../queue/queue-set.ts';
import type { TaskHandler } from '../queue/task-queue.ts';
import type { AnnotatedOperations } from '../status/annotated-operations.ts';
import { memoryRef } from '../values/config-map-presence.ts';
import type { ModuleName } from '../values/module-key.ts';
import { takeConfig } from '../values/operator-config-map.ts';
import { createSecrets } from '../values/secrets/secret-parts.ts';
import { ValuesStore } from '../values/values-store.ts';
import { parseYaml } from '../values/yaml.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { BuildOptions } from './build-options.ts';
import type { DaemonHost } from './host.ts';

/** Without any limit a hook of a deploy that hangs would hold up every deploy for ever. */
const DEPLOY_HOOK_TIMEOUT_MS = 300_000;

export interface BuiltOperator {
  readonly operator: Operator;
  /** Runs one attempt of a task; the queues are started with it. */
  readonly handle: TaskHandler<Task>;
  readonly schedules: Schedules;
  readonly pauses: Pauses;
  readonly helm: HelmDriver;
}

/** What was read of the modules directories last; replaced when files change. */
interface ModuleFiles {
  found: FoundModules;
  flow: FlowPassDeps | undefined;
}

/**
 * Finds the modules and puts the operator together; nothing runs yet.
 *
 * @throws OperatorError for directories and values files that cannot be used
 */
export async function buildOperator(options: BuildOptions): Promise<BuiltOperator> {
  const { settings, host, base, metrics, configMap, loader, stop } = options;
  const { clock } = host;
  const all = { ...options, ...base };
  const log = componentLog(host, 'operator');
  const newEventId = eventIds(host.random);
  const authorization = await createAuthorization({ ...all, kube: base.cluster.main });
  const find = (): Promise<FoundModules> => findAll(options, authorization?.gate);
  const files: ModuleFiles = { found: await find(), flow: undefined };
  const hasModule = (module: string): boolean => files.found.modules.some(({ name }) => name === module);
  const pauses = await loadPauses(options, hasModule);
  const crds = createCrds({ ...options, ...base.cluster, kube: base.cluster.helm });
  await crds.read(files.found.modules);
  const secrets = createSecrets(all);
  const values = new ValuesStore(files.found.staticValues, secrets.values);
  const followSecrets = (): Promise<void> => secrets.follow(values, configMap.content);
  const { dynamicFlags, flags, extenders, isFlaggedOff } = createFlags(options, files);
  await followSecrets();
  takeConfig(configMap, values, (module) => !isFlaggedOff(module));
  const registry = new ModuleRegistry(files.found.modules, isFlaggedOff);
  const converge = new ConvergeState();
  const globalHooks = new GlobalHooks();
  const waiting = createWaiting(options, { registry, converge, newEventId });
  const router = new TaskRouter({ clock, log, metrics, ...waiting, registry, converge, globalHooks });
  const helm = await startHelm(all, readManifest, helmReports({ registry, router, pauses, metrics }));
  const execution = createExecution({ ...all, helm, values, dynamicFlags, followSecrets }, registry);
  const hasHooks = ({ name }: Module): boolean => registry.states.get(name)?.hooks !== undefined;
  const moduleHooks = createModuleHooks({ ...options, ...scriptParts(all, values), hasHooks });
  const releases = releasesOf(helm);
  const annotated = createAnnotatedOperations(all);
  const parts = { registry, converge, globalHooks, router, operations: new ModuleOperations(annotated) };
  const explained = { ...parts, clock, log, ...waiting, values, pauses, releases, execution };
  const extensions = await createExtensionParts({ ...all, helm }, explained);
  files.flow = options.isInspection ? undefined : await loadFlow(options, files.found.modules);
  const schedules = createSchedules(options, router);
  const runDeps = { execution, metrics, log, newEventId, registry, router };
  const webhooks = createWebhooks({ ...options, kube: base.cluster.main }, base.reflectors, runDeps);
  const reloadModules = async (): Promise<void> => {
    moduleHooks.forget();
    const next = await find();
    await crds.read(next.modules);
    files.flow = await loadFlow(options, next.modules);
    // Only now: what cannot be loaded leaves everything as it was.
    files.found = next;
    values.setStatic(next.staticValues);
    await followSecrets();
    registry.setModules(next.modules);
    await authorization?.gate.settle();
  };
  const operator: Operator = {
    ...explained,
    aborts: new RunAborts(),
    newEventId,
    dynamicFlags,
    metrics,
    crds,
    sources: {
      ...discoveries(moduleHooks, flags, extenders),
      loadModuleHooks: moduleHooks.load,
      loadGlobalHooks: (signal) => loadGlobalHooks(loader, settings.globalHooksDir, signal),
      reloadModules,
      modulesDirectories: () => files.found.directories,
    },
    bindings: {
      createRuntime: (hook) => createRuntime({ host, metrics, stop, ...base, ...waiting }, hook, router),
      setSchedules: (runtime, isEnabled) => schedules.set(runtime, isEnabled),
      setWebhooks: (runtimes, isEnabled, signal) => webhooks.set(runtimes, isEnabled, signal),
    },
    configMapContent: () => configMap.content,
    followSecrets,
    policy: operatorPolicy(options),
    extensions: { ...extensions, flow: () => files.flow },
    directoryMemory: directoryMemory(base.cluster.main, memoryRef(settings)),
    authorization,
  };
  if (annotated !== undefined) watchAnnotations(annotated, operator);
  secrets.onChange((changed) => onSecretsChange(operator, changed));
  return { operator, handle: createHandler(options, operator), schedules, pauses, helm };
}

/** Runs the operations that users request by annotations of Module objects. */
function watchAnnotations(annotated: AnnotatedOperations, operator: Operator): void {
  annotated.watch((name, operation) => {
    const module = operator.registry.find(name);
    if (module !== undefined) runOperation(operator, module.name, operation);
  });
}

/** The flags of all sources, and what they say about modules on their own. */
function createFlags({ settings, configMap }: BuildOptions, files: Pick<ModuleFiles, 'found'>) {
  const extenders = parseExtenders(settings.appliedModuleExtenders.join(','));
  const flagsWith = ({ all, hooks }: Pick<DynamicFlags, 'all' | 'hooks'>): ModuleFlags => ({
    common: files.found.commonFlags,
    dynamic: all,
    configMap: configMap.content.flags,
    places: { common: files.found.commonFlagFiles, dynamic: hooks },
  });
  const dynamicFlags = new DynamicFlags((all) =>
    enabledBy(flagsWith({ all, hooks: new Map() }), files.found.modules, extenders),
  );
  const flags = (): ModuleFlags => flagsWith(dynamicFlags);
  const isFlaggedOff = (name: ModuleName): boolean => {
    const named = files.found.modules.filter((module) => module.name === name);
    return enabledBy(flags(), named, extenders).length === 0;
  };
  return { dynamicFlags, flags, extenders, isFlaggedOff };
}

/** What queues report to, and what their tasks are marked with. */
interface QueueUsers {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly newEventId: () => string;
}

function createQueues(
  { host, metrics }: BuildOptions,
  { registry, converge, newEventId }: QueueUsers,
  onChange: ReturnType<typeof countQueuedEvents>,
): QueueSet<Task> {
  const { clock, random } = host;
  const log = componentLog(host, 'operator');
  return new QueueSet<Task>({
    clock,
    random,
    onFailure: (queue, entry, failure) => tellFailure(host, failedTask(queue, entry, failure, converge)),
    measure: queueActionMeasure(monotonicMs, metrics),
    admit: (tasks, follows) => withOrigin(tasks, follows, newEventId),
    onAdd: (...added) => logAdded({ registry, log }, ...added),
    onChange,
    onError: (queue, error) =>
      host.log.error(
        { queue, error },
        'internal error outside of a queue task: the queue continues; please report this',
      ),
  });
}

function operatorPolicy({ settings }: BuildOptions): OperatorPolicy {
  return {
    runsModulesInParallel: settings.runsModulesInParallel,
    failurePolicy: settings.moduleFailurePolicy,
    deployHookTimeoutMs: settings.hookTimeoutMs === 0 ? DEPLOY_HOOK_TIMEOUT_MS : undefined,
    ignoredRelease: settings.helmIgnoreRelease,
    purgesForeignReleases: settings.purgesForeignReleases,
    allowsEmptyModulesDir: settings.allowsEmptyModulesDir,
  };
}

function createHandler({ redactor, onTask }: BuildOptions, operator: Operator): TaskHandler<Task> {
  const handle = taskHandler(operator, redactor);
  return (...attempt) => {
    onTask();
    return handle(...attempt).finally(() => onTask());
  };
}

async function findAll(
  { settings, host }: BuildOptions,
  gate: ModuleGate | undefined,
): Promise<FoundModules> {
  const found = await findModules({
    dirs: settings.modulesDirs,
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: settings.requiresValuesFiles,
    globalHooksDir: settings.globalHooksDir,
    gate,
    allowsLinksOutside: settings.allowsLinksOutside,
    log: componentLog(host, 'modules'),
  });
  checkReconcileSchedules(found.modules);
  return found;
}

function loadFlow({ settings, host, base, stop }: BuildOptions, modules: readonly Module[]) {
  return createFlowHooks({ settings, host, extensions: base.extensions, nextReconcile }, modules, stop);
}

function createWaiting(
  options: BuildOptions,
  users: QueueUsers,
): { readonly queues: QueueSet<Task>; readonly backlog: EventBacklog } {
  const backlog = createBacklog(options);
  const queues = createQueues(options, users, countQueuedEvents(backlog));
  backlog.hold(queuedEvents(queues));
  return { queues, backlog };
}

function createBacklog({ settings, host, metrics }: BuildOptions): EventBacklog {
  const log = componentLog(host, 'operator');
  return new EventBacklog({
    limitBytes: settings.hookBacklogMaxBytes,
    onLimit: (facts) =>
      log.warn(
        facts,
        'events that wait for hooks have reached --hook-backlog-max-bytes: only the last state of each object is kept',
      ),
    onDrop: (labels, events) => metrics.hookBacklogDropped(labels, events),
  });
}

function createSchedules(
  { host, base, metrics }: BuildOptions,
  router: Pick<TaskRouter, 'onScheduleTick'>,
): Schedules {
  const manager = new ScheduleManager({
    clock: host.clock,
    log: componentLog(host, 'schedule'),
    onMissed: (crontab, ticks) => metrics.missedTicks(crontab, ticks),
    timeZone: base.timeZone,
  });
  return new Schedules({ manager, onTick: (runtime, binding) => router.onScheduleTick(runtime, binding) });
}

/** Parses one YAML document as helm does. */
function readManifest(text: string): unknown {
  return parseYaml(text, { source: 'rendered manifest', booleans: 'yaml-1.1', longIntegers: 'exact' }).value;
}

async function loadPauses(
  { settings, host, base, stop }: BuildOptions,
  hasModule: (name: string) => boolean,
): Promise<Pauses> {
  const ref = { namespace: settings.namespace, name: `${settings.configMapName}-pauses` };
  const { clock, random } = host;
  const log = componentLog(host, 'operator');
  const { reflectors, cluster } = base;
  const kube = cluster.main;
  const pauses = new Pauses({ kube, reflectors, ref, clock, random, log, hasModule });
  await untilAnswered('pauses', () => pauses.load(stop), host, stop);
  return pauses;
}

function enabledBy(
  flags: ModuleFlags,
  modules: readonly Module[],
  extenders: readonly Extender[],
): readonly ModuleName[] {
  return modules.filter((module) => flagDecision(module, flags, extenders).isEnabled).map(({ name }) => name);
}

function discoveries(
  { discover, rediscover }: ModuleHooks,
  flags: () => ModuleFlags,
  extenders: readonly Extender[],
): Pick<ModuleSources, 'discover' | 'rediscover'> {
  const withFlags =
    (pass: ModuleHooks['discover']): ModuleSources['discover'] =>
    (modules, deployed, signal) =>
      pass({ modules, deployed, flags: flags(), extenders }, signal);
  return { discover: withFlags(discover), rediscover: withFlags(rediscover) };
}

function tellFailure(host: DaemonHost, failed: FailedTask): void {
  const { facts, ...fields } = failed;
  componentLog(host, 'operator').debug({ ...fields, ...facts }, 'attempt failed, will retry');
  host.onTaskFailure?.(failed);
}
