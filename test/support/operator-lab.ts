import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import type { Tracer } from '@addon-operator/base/trace';
import type { RevisionSummary } from '@addon-operator/helm/release-history';
import type { TaskHandler } from '@addon-operator/task-queue';
import { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { FlowPassDeps } from '../../src/extensions/flow/flow-pass.ts';
import type { KubernetesEvent, SnapshotItem } from '../../src/hook-config/kubernetes-binding.ts';
import { createHookTasks } from '../../src/hook-runs/hook-tasks.ts';
import { Synchronizations } from '../../src/hook-runs/synchronizations.ts';
import { EventBacklog } from '../../src/hooks/event-backlog.ts';
import type { Hook } from '../../src/hooks/hook.ts';
import { Journal } from '../../src/journal/journal.ts';
import { OperatorMetrics } from '../../src/metrics/operator-metrics.ts';
import { ConvergeState } from '../../src/model/converge-state.ts';
import { DynamicFlags } from '../../src/model/dynamic-flags.ts';
import { GlobalHooks } from '../../src/model/global-hooks.ts';
import { HookRuntime } from '../../src/model/hook-runtime.ts';
import type { Model } from '../../src/model/model.ts';
import { ModuleOperations, type OperationSource } from '../../src/model/module-operations.ts';
import { ModuleRegistry } from '../../src/model/module-registry.ts';
import type { OperatorPolicy } from '../../src/model/operator-policy.ts';
import type { Pause } from '../../src/model/pause-entry.ts';
import { PendingUpdates } from '../../src/model/pending-updates.ts';
import type { ModulesDirectory } from '../../src/model/purge-guard.ts';
import { RunAborts } from '../../src/model/run-aborts.ts';
import type { Configuration, ModuleExtensions, ModuleReading, Telemetry } from '../../src/model/services.ts';
import { StatusTimes } from '../../src/model/status-times.ts';
import { SwitchRequests } from '../../src/model/switch-requests.ts';
import { describeTask, type Task } from '../../src/model/tasks.ts';
import type { Module } from '../../src/modules/module.ts';
import { type TaskHandlerParts, taskHandler } from '../../src/operator/task-pipeline.ts';
import type { Queueing } from '../../src/queues/create-queues.ts';
import { countQueuedEvents, queuedEvents } from '../../src/queues/queued-events.ts';
import { TaskRouter } from '../../src/queues/task-router.ts';
import type { TaskTraces } from '../../src/queues/task-traces.ts';
import {
  createReconcile,
  type HookServices,
  type ModuleRecords,
  type Reconcile,
} from '../../src/reconcile/create-reconcile.ts';
import type { Recorder } from '../../src/recordings/recorder.ts';
import { EMPTY_CONTENT } from '../../src/values/config-map-content.ts';
import type { ModuleName } from '../../src/values/module-key.ts';
import { type ValuesSecrets, ValuesStore } from '../../src/values/values-store.ts';
import { CapturedLog } from './captured-log.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { FakeMonitor } from './fake-monitor.ts';
import { labPolicy, labSources, NO_CHECKS, NO_MEMORY } from './lab-discovery.ts';
import { type HookBehaviour, labExecution } from './lab-execution.ts';
import { hookFor, moduleFor } from './lab-parts.ts';
import { labReleases } from './lab-releases.ts';
import { BOOT_ID, labRecorder, labTraces } from './lab-traces.ts';

export { failing, type HookBehaviour, type HookProcess } from './lab-execution.ts';

export { hookFor, moduleFor } from './lab-parts.ts';
export const name = (text: string): ModuleName => text as ModuleName;

type LabOptions = Partial<
  Pick<OperatorPolicy, 'runsModulesInParallel' | 'failurePolicy'> &
    Pick<ModuleRecords, 'authorization'> &
    Pick<ModuleExtensions, 'finalizers'>
> & {
  readonly operationSource?: OperationSource;
  readonly secrets?: ValuesSecrets;
  readonly flow?: FlowPassDeps;
  readonly maxContextBytes?: number;
  readonly maxBacklogBytes?: number;
  readonly tracer?: Tracer;
};

interface Parts {
  readonly modules: readonly Module[];
  readonly hooks: readonly Hook[];
}

/** All parts of the operator in one object: tests call functions of every room with it. */
type LabOperator = Model &
  Queueing &
  Telemetry &
  Configuration &
  HookServices &
  ModuleRecords &
  Pick<TaskHandlerParts, 'releases' | 'sources' | 'reconcile'> &
  Pick<Reconcile, 'removal' | 'deployHooks'> & {
    readonly extensions: ModuleExtensions;
    readonly recorder: Recorder;
    readonly health: { readonly outage: undefined };
    readonly handlerParts: TaskHandlerParts;
  };

/**
 * An operator with real queues, values, hooks and handlers. Processes, helm, monitors and discovery are a few lines
 * each; what they were asked for is in `calls`, in order.
 */
export class OperatorLab {
  readonly clock = new FakeClock();
  readonly journal = new Journal({ clock: this.clock, bootId: BOOT_ID });
  readonly log = new CapturedLog(this.clock);
  readonly calls: string[] = [];
  readonly operator: LabOperator;
  readonly backlog: EventBacklog;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags = new DynamicFlags((flags) =>
    [...flags].map(([key, isEnabled]) => `${key} ${isEnabled}`),
  );
  readonly behaviours = new Map<string, HookBehaviour>();
  readonly releases = new Set<string>();
  /** Modules that are left alone. */
  readonly pauses = new Map<string, Pause>();
  /** Modules that another operator runs. */
  readonly handedOver = new Set<string>();
  readonly foreignReleases = new Set<string>();
  /** Revisions of each release, the newest first. */
  readonly revisions = new Map<string, readonly RevisionSummary[]>();
  /** Releases that are to stay without their modules. */
  readonly keptReleases = new Set<string>();
  /** What discovery finds; a module in `flaggedOff` was disabled since. */
  readonly enabled = new Set<string>();
  readonly flaggedOff = new Set<string>();
  readonly failingScripts = new Set<string>();
  /** Modules that bring CRDs. */
  readonly withCrds = new Set<string>();
  /** Events that were dropped because too much waited. */
  droppedEvents = 0;
  /** How often all tasks of a queue were read. */
  queueReads = 0;
  /** How often monitors were stopped for changed global values. */
  globalChanges = 0;
  readonly monitors = new Map<string, FakeMonitor>();
  /** What a monitor finds when it is made, by `<owner>/<hook>/<binding name>`; nothing else. */
  readonly objects = new Map<string, readonly SnapshotItem[]>();
  /** Taken by calls of helm, discovery and monitors under their name, before they do anything. */
  readonly obstacles = new Map<string, () => void | Promise<void>>();
  content = EMPTY_CONTENT;
  /** What is on disk; in most tests something that no rule looks at. */
  directories: readonly ModulesDirectory[] = [{ path: '/modules', modules: ['any'] }];
  /** What reading modules again finds; undefined: nothing has changed. */
  reading: ModuleReading | undefined;
  rememberedDirectories: readonly ModulesDirectory[] | undefined;
  readonly tmpDir = mkdtempSync(join(tmpdir(), 'operator-lab-'));
  readonly stop = new AbortController();
  readonly abort = new AbortController();
  readonly #hooks: Hook[];
  readonly #options: LabOptions;

  constructor({ modules, hooks }: Parts, options: LabOptions = {}) {
    this.#hooks = [...hooks];
    this.#options = options;
    const staticValues = new Map(modules.map((module) => [module.name, module.staticValues]));
    this.values = new ValuesStore({ global: {}, modules: staticValues }, options.secrets);
    for (const module of modules) this.enabled.add(module.name);
    const { clock } = this;
    const { traces, admission } = labTraces(clock, options.tracer);
    this.backlog = this.#createBacklog();
    const queues: QueueSet<Task> = new QueueSet<Task>({
      clock,
      ...admission,
      random: () => 0,
      onChange: countQueuedEvents(this.backlog),
      measure: (_queue, action, act) => {
        if (action === 'IterateSnapshot') this.queueReads += 1;
        return act();
      },
    });
    this.backlog.hold(queuedEvents(queues));
    this.operator = this.#createOperator(queues, modules, traces);
    const globals = this.#hooks.filter((hook) => hook.owner.type === 'global');
    this.operator.globalHooks.setRuntimes(globals.map((hook) => this.operator.bindings.createRuntime(hook)));
  }

  get main() {
    return this.operator.router.main;
  }

  /** Runs one attempt of a task, with all stages. */
  handler(options: Pick<TaskHandlerParts, 'redactor' | 'objects'> = {}): TaskHandler<Task> {
    return taskHandler({ ...this.operator.handlerParts, ...options });
  }

  start(): void {
    this.operator.queues.start(this.handler(), {
      stop: this.stop.signal,
      abort: this.abort.signal,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    this.abort.abort();
    await this.operator.queues.ended();
    rmSync(this.tmpDir, { recursive: true, force: true });
  }

  /** What is in a queue, in the words of `queue list`. */
  tasks(queue = 'main'): readonly string[] {
    return this.operator.queues
      .get(queue)
      .entries.map(({ task }) => describeTask(task, queue).replace(`:${queue}`, ''));
  }

  /** Lets everything run that needs no time; file access of runs included. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await settle();
  }

  /** Lets the daemon get only so far: that many turns of the event loop. */
  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Starts the converge over, as the daemon does it: before the first discovery is over, the converge to come is enough. */
  startOver(): void {
    if (this.operator.registry.discovery !== undefined)
      this.operator.router.restartConverge('ReloadAllModules', 'restart');
  }

  /** Lets time pass, several times the same. */
  async pass(ms: number, times: number): Promise<void> {
    await this.settle();
    for (let round = 0; round < times; round += 1) {
      await this.clock.advance(ms);
      await this.settle();
    }
  }

  /** Runs the converge of the start to its end. */
  async converge(): Promise<void> {
    this.start();
    this.operator.router.main.append({ type: 'ConvergeModules', event: 'OperatorStartup', trigger: 'start' });
    await this.settle();
  }

  /** Returns the calls since the last time. */
  takeCalls(): readonly string[] {
    return this.calls.splice(0);
  }

  runtimeOf(hook: string): HookRuntime {
    const all = [
      ...this.operator.globalHooks.runtimes,
      ...[...this.operator.registry.tracked.values()].flatMap((state) => state.hooks ?? []),
    ];
    const runtime = all.find((other) => keyOf(other.hook) === hook);
    if (runtime === undefined) throw new Error(`no hook ${hook} is loaded`);
    return runtime;
  }

  /** An event of a kubernetes binding, by `<owner>/<hook>/<binding name>`. */
  emit(binding: string, watchEvent: KubernetesEvent['watchEvent'] = 'Added'): void {
    this.monitors.get(binding)?.emit({ watchEvent, key: '/object', item: {} });
  }

  tick(hook: string): void {
    const runtime = this.runtimeOf(hook);
    for (const binding of runtime.hook.config.schedule) this.operator.router.onScheduleTick(runtime, binding);
  }

  replaceHooks(hooks: readonly Hook[]): void {
    this.#hooks.splice(0, this.#hooks.length, ...hooks);
  }

  #createOperator(queues: QueueSet<Task>, modules: readonly Module[], traces: TaskTraces): LabOperator {
    const { clock, backlog, log } = this;
    const metrics = new OperatorMetrics({
      eventLoopDelay: createHistogram(),
      prefix: 'addon_operator_',
      hasQueueActions: false,
      version: '0.0.0',
    });
    const registry = new ModuleRegistry(modules, (module) => this.flaggedOff.has(module));
    const execution = labExecution(this, {
      metrics,
      registry,
      maxContextBytes: this.#options.maxContextBytes ?? Number.MAX_SAFE_INTEGER,
      call: (what) => this.#call(what),
    });
    const { values, dynamicFlags, journal } = this;
    const telemetry: Telemetry = { clock, log: log.logger, metrics, journal };
    const shared = { queues, backlog, metrics, clock, log: log.logger, random: () => 0 };
    const centre = { registry, converge: new ConvergeState(), globalHooks: new GlobalHooks() };
    const router = new TaskRouter({ ...shared, ...centre });
    const model: Model = {
      ...centre,
      operations: new ModuleOperations(this.#options.operationSource),
      aborts: new RunAborts(),
      updates: new PendingUpdates(),
      switchRequests: new SwitchRequests(),
      statusTimes: new StatusTimes(),
      policy: labPolicy(this.#options),
      pauses: {
        of: (module) => this.pauses.get(module),
        isOfAll: () => false,
        resume: async (module) => this.pauses.delete(module),
      },
      handOvers: { isAway: (module) => this.handedOver.has(module), during: (_module, run) => run() },
    };
    const queueing: Queueing = { queues, backlog, router, traces };
    const configuration: Configuration = {
      values,
      dynamicFlags,
      configMapContent: () => this.content,
      followSecrets: async () => undefined,
    };
    const hooks: HookServices = {
      execution,
      bindings: {
        createRuntime: (hook) => this.#createRuntime(hook),
        serveLateTicks: (module, runtimes) => router.serveLateTicks(module, runtimes),
        setSchedules: (runtime, isEnabled) => runtime.enableSchedules(isEnabled),
        setWebhooks: async (runtimes, isEnabled) => {
          for (const { hook } of runtimes)
            if (hook.config.admission.length > 0)
              await this.#call(`webhooks ${hook.name} ${isEnabled ? 'on' : 'off'}`);
        },
      },
      settingsChecks: NO_CHECKS,
      synchronizations: new Synchronizations({ ...centre, router, queues }),
    };
    const records: ModuleRecords = {
      crds: {
        has: (module) => this.withCrds.has(module),
        ensure: (module) => this.#call(`crds ${module}`),
        preview: async () => await Promise.resolve({ kept: [], problems: [] }),
      },
      memory: NO_MEMORY,
      authorization: this.#options.authorization,
      directoryMemory: {
        read: async () => {
          await this.obstacles.get('read directories')?.();
          return this.rememberedDirectories;
        },
        write: async (directories) => void (this.rememberedDirectories = directories),
      },
    };
    const releases = labReleases(this, (what, detail) => this.#call(what, detail));
    const extensions: ModuleExtensions = {
      flow: () => this.#options.flow,
      httpHooks: undefined,
      finalizers: this.#options.finalizers,
      releaseSteps: async () => await Promise.resolve(undefined),
      uninstallSteps: async () => await Promise.resolve(undefined),
    };
    const sources = labSources(this, this.#hooks, (what) => this.#call(what));
    const { crds } = records;
    const parts = {
      model,
      queueing,
      telemetry,
      configuration,
      hooks,
      sources,
      records,
      releases,
      extensions,
      crds,
      stored: undefined,
    };
    const reconcile = createReconcile(parts);
    const { bindings, synchronizations } = hooks;
    const hookTasks = createHookTasks({
      model,
      queueing,
      telemetry,
      values,
      releases,
      execution,
      bindings,
      synchronizations,
    });
    // Tests call functions of every room with it: each takes the few parts that it uses.
    const flat = {
      ...model,
      ...queueing,
      ...telemetry,
      ...configuration,
      ...hooks,
      ...records,
      releases,
      extensions,
      sources,
      reconcile,
      removal: reconcile.removal,
      deployHooks: reconcile.deployHooks,
      recorder: labRecorder(clock),
      health: { outage: undefined },
    };
    return { ...flat, handlerParts: { ...parts, reconcile, hookTasks } };
  }

  #createBacklog(): EventBacklog {
    return new EventBacklog({
      limitBytes: this.#options.maxBacklogBytes ?? Number.MAX_SAFE_INTEGER,
      onLimit: (facts) => this.log.logger.warn(facts, 'the backlog is full'),
      onDrop: (_labels, events) => void (this.droppedEvents += events),
    });
  }

  #createRuntime(hook: Hook): HookRuntime {
    return new HookRuntime(hook, {
      clock: this.clock,
      stop: this.stop.signal,
      onEvent: (...event) => this.operator.router.onKubernetesEvent(...event),
      createMonitor: (_hook, binding, onEvent) => {
        const key = `${keyOf(hook)}/${binding.name}`;
        const monitor = new FakeMonitor(
          { emit: onEvent, isReadFirst: binding.executeOnSynchronization, backlog: this.backlog },
          () => this.#call(`monitor ${key}`),
        );
        monitor.items = this.objects.get(key) ?? [];
        this.monitors.set(key, monitor);
        return monitor;
      },
    });
  }

  async #call(what: string, detail = ''): Promise<void> {
    this.calls.push(detail === '' || detail === '{}' ? what : `${what} ${detail}`);
    await this.obstacles.get(what)?.();
  }
}

function keyOf(hook: Hook): string {
  return hook.path.slice(1);
}

/**
 * A lab with the given modules and hooks.
 *
 * @param modules names in run order
 * @param hooks configurations by `<owner>/<file>`
 */
export async function operatorLab(
  modules: readonly (string | Module)[],
  hooks: Readonly<Record<string, object>> = {},
  options: LabOptions = {},
): Promise<OperatorLab> {
  const parts = {
    modules: modules.map((module, index) =>
      typeof module === 'string' ? moduleFor(module, index + 1) : module,
    ),
    hooks: await Promise.all(Object.entries(hooks).map(([path, config]) => hookFor(path, config))),
  };
  return new OperatorLab(parts, options);
}
