import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import type { TaskHandler } from '@addon-operator/task-queue';
import { QueueSet } from '@addon-operator/task-queue/queue-set';
import { doneWith, type HookRunParts, runHookTask } from '../../hook-runs/hook-run.ts';
import { rethrowAbort } from '../../hook-runs/rethrow-abort.ts';
import { createSchedules, type Schedules } from '../../hook-runs/schedules.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import type { OperatorMetrics } from '../../metrics/operator-metrics.ts';
import { ConvergeState } from '../../model/converge-state.ts';
import { GlobalHooks } from '../../model/global-hooks.ts';
import { hookTask, MAIN_QUEUE, type Task } from '../../model/tasks.ts';
import { TaskRouter } from '../../queues/task-router.ts';
import type { Activity } from '../../tools/hook-test/activity.ts';
import type {
  Action,
  DeployStep,
  ObjectName,
  ReplayFacts,
  StepFacts,
  TestWorld,
} from '../../tools/hook-test/hook-test.ts';
import type { VirtualClock } from '../../tools/hook-test/virtual-clock.ts';
import { visibleToGlobalHook, visibleToModule } from '../../values/visible-values.ts';
import type { LoneHook } from '../lone-hook.ts';
import { runOfBinding } from '../planned-runs.ts';
import { replayedHook } from '../replayed-hook.ts';
import { startWatching } from '../start-watching.ts';
import type { CaseTools } from './case-tools.ts';
import { deployReason } from './deploy-reason.ts';
import type { RunRecords } from './run-records.ts';
import { requestAdmission, requestConversion } from './webhook-requests.ts';

export interface HookWorldOptions {
  readonly hook: LoneHook;
  readonly clock: VirtualClock;
  readonly activity: Activity;
  readonly records: RunRecords;
  /** As they are without records. */
  readonly runs: HookRuns;
  readonly metrics: OperatorMetrics;
  readonly kube: KubeClient;
  readonly discovery: Pick<Discovery, 'find'>;
  readonly tools: CaseTools;
  /** Aborts when the case ends, or the operator is started again. */
  readonly stop: AbortSignal;
}

/** Runs are put off by so much while events pour in: this time passes by itself. */
const GATHER_MS = 10;

/** A case has few events: nothing bounds them. */
const NO_BACKLOG = {
  bytesOf: () => 0,
  change: () => undefined,
  hold: () => undefined,
  relieve: () => undefined,
};

/** One hook with the queues and schedules that the operator would have for it, on a virtual clock. */
export class HookWorld implements TestWorld {
  readonly #options: HookWorldOptions;
  readonly #queues: QueueSet<Task>;
  readonly #router: TaskRouter;
  readonly #schedules: Schedules;
  readonly #execution: HookRunParts['execution'];
  readonly #ended: Promise<unknown>;
  #start: 'no' | 'startup' | 'done' = 'no';

  constructor(options: HookWorldOptions) {
    this.#options = options;
    const { hook, clock, activity, records, metrics, stop } = options;
    const log = silentLogger;
    const random = (): number => 0;
    const converge = new ConvergeState();
    converge.finishFirst();
    this.#queues = new QueueSet<Task>({ clock, random });
    this.#router = new TaskRouter({
      random: () => 0,
      queues: this.#queues,
      clock,
      log,
      metrics,
      backlog: NO_BACKLOG,
      registry: hook.registry,
      converge,
      globalHooks: new GlobalHooks(),
    });
    this.#schedules = createSchedules({ host: { clock, log }, metrics, router: this.#router });
    hook.listeners.add((binding, event) => this.#router.onKubernetesEvent(hook.runtime, binding, event));
    this.#execution = records.around(hook.execution);
    const { registry } = hook;
    const parts = { router: this.#router, registry, clock, log, metrics, execution: this.#execution };
    this.#queues.start(handler(parts, activity), { stop, abort: stop });
    this.#ended = Promise.all([
      this.#queues.ended(),
      this.#schedules.run(stop).catch((error: unknown) => {
        if (!stop.aborted) throw error;
      }),
    ]);
  }

  async perform(action: Action): Promise<StepFacts> {
    const { tools, records, stop } = this.#options;
    await this.#do(action);
    const responses = await this.#request(action);
    await this.#settle();
    // It may have ended because the case took too long.
    stop.throwIfAborted();
    return { runs: records.take(), ...tools.take(), ...responses };
  }

  async object({ apiVersion, kind, namespace, name }: ObjectName): Promise<unknown> {
    const { kube, discovery, stop } = this.#options;
    const resource = await discovery.find(apiVersion, kind, stop);
    const path = resourcePath(resource, namespace, name);
    try {
      return await kube.request({ method: 'GET', path }, stop);
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  values(): unknown {
    const { values, registry, runtime } = this.#options.hook;
    const { owner } = runtime.hook;
    return owner.type === 'global'
      ? visibleToGlobalHook(values).values
      : visibleToModule(values, owner.module, registry.enabled, 'optional').values;
  }

  configValues(): unknown {
    const { global, sections } = this.#options.hook.configMap.content;
    return { global, ...Object.fromEntries(sections) };
  }

  pending(): readonly string[] {
    const held = this.#router.held.all.map(({ cause }) =>
      cause.type === 'unfinished'
        ? `a run waits beside the queue: ${cause.reason}`
        : `events of ${cause.binding.name} are held back by debounce`,
    );
    const queued = this.#queues.all.flatMap(({ entries }) =>
      entries.map(({ task, lastError }) => {
        const binding = 'binding' in task ? task.binding : task.type;
        return `the run for ${binding} waits to be repeated${lastError === '' ? '' : `: ${lastError}`}`;
      }),
    );
    return [...queued, ...held];
  }

  async replay(path: string): Promise<ReplayFacts & { readonly contexts: readonly unknown[] }> {
    const { hook, runs, tools, stop } = this.#options;
    const requests: string[] = [];
    const takeRequests = (): readonly string[] => {
      const taken = tools.take().requests;
      requests.push(...taken);
      return taken;
    };
    const contexts: unknown[] = [];
    const replayed = replayedHook({ hook: hook.runtime.hook, runs, takeRequests, signal: stop });
    const problem = await tools.replay(path, hook.runtime.hook, {
      ...replayed,
      run: (recording) => {
        contexts.push(...recording.contexts);
        return replayed.run(recording);
      },
    });
    // It may have ended because the case took too long.
    stop.throwIfAborted();
    return { requests, contexts, ...(problem !== undefined && { problem }) };
  }

  /** Resolves when nothing of it runs any more; to be called when `stop` is aborted. */
  async ended(): Promise<void> {
    await this.#ended;
  }

  async #do(action: Action): Promise<void> {
    const { hook, tools, stop } = this.#options;
    const { readObjects } = tools;
    if (action.start !== undefined) this.#beginStart();
    if (action.apply !== undefined)
      for (const object of await readObjects(action.apply)) await hook.objects.put(object, stop);
    if (action.delete !== undefined)
      for (const object of await readObjects(action.delete)) await hook.objects.remove(object, stop);
    if (action.status !== undefined)
      for (const object of await readObjects(action.status)) await hook.objects.putStatus(object, stop);
    if (action.values !== undefined) {
      await tools.writeValues(action.values);
      await hook.reloadConfig();
    }
    if (action.api !== undefined) tools.setApi(action.api);
    if (action.advance !== undefined) await this.#advance(parseGoDuration(action.advance) ?? 0);
    if (action.tick !== undefined) this.#tick(action.tick);
    if (action.run !== undefined) this.#run(action.run);
    if (action.deploy !== undefined) this.#deploy(action.deploy);
  }

  /** Lets the API server send a request to a webhook of the hook. */
  async #request({ admission, convert }: Action): Promise<Pick<StepFacts, 'admission' | 'conversion'>> {
    const { hook, discovery, tools, stop } = this.#options;
    const parts = { hook: hook.runtime, execution: this.#execution, discovery, tools, stop };
    if (admission !== undefined) return { admission: await requestAdmission(parts, admission) };
    return convert === undefined ? {} : { conversion: await requestConversion(parts, convert) };
  }

  #beginStart(): void {
    if (this.#start !== 'no')
      throw new OperatorError('CONFIG_INVALID', 'start: the hook was started in a step before');
    this.#start = 'startup';
    if (this.#options.hook.runtime.hook.config.lifecycle.onStartup !== undefined) this.#run('onStartup');
  }

  /** Runs the steps after onStartup, once that has succeeded. */
  async #finishStart(): Promise<void> {
    const { hook, stop } = this.#options;
    this.#start = 'done';
    const { runtime } = hook;
    await startWatching(runtime, stop);
    for (const binding of runtime.hook.config.kubernetes)
      this.#queues.get(binding.queue).append(this.#router.synchronizationRun(runtime, binding, ''));
    this.#schedules.set(runtime, true);
  }

  #run(name: string): void {
    const { runtime } = this.#options.hook;
    const { binding, reasons } = runOfBinding(runtime.hook.config, name);
    const isLifecycle = reasons.every(({ type }) => type === 'lifecycle');
    if (!isLifecycle)
      throw new OperatorError(
        'CONFIG_INVALID',
        `run: ${name} is no lifecycle binding: use apply, delete or tick for bindings of other types`,
      );
    const allowFailure = false;
    const run = { hook: runtime, binding, reasons, allowFailure, trigger: 'test', activation: '' };
    this.#queues.get(MAIN_QUEUE).append(hookTask(run));
  }

  #deploy(step: DeployStep): void {
    const { runtime } = this.#options.hook;
    const reason = deployReason(step, runtime.hook.config);
    const { binding } = reason;
    // A deployment goes on when such a hook fails, and does not run it again.
    const run = {
      hook: runtime,
      binding,
      reasons: [reason],
      allowFailure: true,
      trigger: 'test',
      activation: '',
    };
    this.#queues.get(MAIN_QUEUE).append(hookTask(run));
  }

  #tick(name: string): void {
    const { runtime } = this.#options.hook;
    const { schedule } = runtime.hook.config;
    const binding = schedule.find((each) => each.name === name);
    if (binding === undefined)
      throw new OperatorError(
        'CONFIG_INVALID',
        `tick: the hook has no schedule binding '${name}'; it has ${schedule.map((each) => each.name).join(', ') || 'none'}`,
      );
    if (this.#start !== 'done')
      throw new OperatorError('CONFIG_INVALID', 'tick: schedules fire only after a step start');
    this.#router.onScheduleTick(runtime, binding);
  }

  async #advance(ms: number): Promise<void> {
    const { clock } = this.#options;
    let leftMs = ms;
    for (;;) {
      await this.#settle();
      const stepMs = Math.min(clock.nextMs ?? leftMs, leftMs);
      clock.pass(stepMs);
      leftMs -= stepMs;
      if (leftMs <= 0 && (clock.nextMs ?? 1) > 0) return;
    }
  }

  async #settle(): Promise<void> {
    const { activity, clock } = this.#options;
    for (;;) {
      await activity.whenQuiet();
      const nextMs = clock.nextMs;
      if (this.#start === 'startup' && this.#queues.get(MAIN_QUEUE).length === 0) await this.#finishStart();
      else if (nextMs !== undefined && nextMs <= GATHER_MS) clock.pass(nextMs);
      else return;
    }
  }
}

/** As the operator handles tasks of hooks, without a module around them. */
function handler(parts: HookRunParts, activity: Activity): TaskHandler<Task> {
  return async (entry, queue, signal) => {
    const done = activity.begin();
    try {
      const { task } = entry;
      if (task.type !== 'GlobalHookRun' && task.type !== 'ModuleHookRun') return { type: 'success' };
      return doneWith(await runHookTask(parts, entry, task, queue, signal));
    } catch (error) {
      rethrowAbort(error, signal);
      return { type: 'retry', error: new Error(messageOf(error), { cause: error }) };
    } finally {
      done();
    }
  };
}
