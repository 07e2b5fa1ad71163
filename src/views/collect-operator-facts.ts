import { wallTimeOf } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { ApiHealth } from '@addon-operator/kube-client/api-health';
import type { TaskQueue } from '@addon-operator/task-queue';
import { fullName } from '../hooks/hook.ts';
import type { Journal } from '../journal/journal.ts';
import { failedPartOf } from '../model/hook-file.ts';
import { runningHookFacts } from '../model/running-hooks.ts';
import { moduleLabelOf, type Task } from '../model/tasks.ts';
import { allRuntimes, staleBindings, unfilteredObjects } from '../queues/binding-problems.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import { unfinishedRuns } from '../queues/unfinished-runs.ts';
import type { ModuleStatus } from '../status/module-explanation.ts';
import { type BusyQueue, isNoted, type ModuleCounts, type OperatorFacts } from '../status/operator-facts.ts';
import { NOTED_HOOK_MS, type RunningHookFacts } from '../status/running-hook.ts';
import { configProblemOf, failedFile, unloadedText } from './collect-obstacles.ts';
import { driftOf } from './explain-drift.ts';
import { heldSummaries, moduleStates, summarizeStates } from './explain-module.ts';
import { deliveryState, updateOf } from './explain-update.ts';
import type { Explained } from './explained.ts';

/** Whether the API server responds. */
type Health = Pick<ApiHealth, 'outage'>;

/** Where the runs of problems are found. */
type Runs = Pick<Journal, 'list'>;

/**
 * Collects the facts of the operator's status. The sentences are made of them in `status/`.
 *
 * @param runs default: problems name no runs
 */
export function collectOperatorFacts(
  operator: Explained,
  { outage }: Health,
  runs: Runs = { list: () => ({ runs: [], next: null }) },
): OperatorFacts {
  const { clock, converge, queues, registry, pauses, releases } = operator;
  // A pause of all modules shows on each of them, so any module will do.
  const pausedOfAll = registry.modules.find(({ name }) => pauses.isOfAll(name));
  const pause = pausedOfAll && pauses.of(pausedOfAll.name);
  const runtimes = allRuntimes(operator);
  const states = moduleStates(operator);
  const held = heldSummaries(operator);
  const delivery = deliveryState(operator);
  const known = new Set<string>(registry.modules.map(({ name }) => name));
  const notInstalled = delivery.modules.map(({ module }) => module).filter((module) => !known.has(module));
  const busy = queues.all.filter(({ entries }) => entries.length > 0);
  return {
    outage: outage && { ...outage, since: isoTime(wallTimeOf(clock.steadyMs() - outage.durationMs, clock)) },
    firstConverge: converge.first,
    // Idle queues are left out: with keys there may be thousands of them.
    queues: busy
      .toSorted((one, other) => Number(other.name === 'main') - Number(one.name === 'main'))
      .flatMap((queue) => busyQueue(operator, queue, runs)),
    configProblem: configProblemOf(operator),
    editConfigMap: converge.editConfigMap,
    unloadedFiles: converge.unloaded.map(unloadedText),
    runningHooks: runningHooks(operator).map((hook) => ({
      ...hook,
      // The others are not mentioned, and finding a run reads the whole journal.
      run: hook.runningMs < NOTED_HOOK_MS ? '' : runOf(hook, runs),
    })),
    counts: countsOf([...states, ...held]),
    // Of ready modules only the number matters, and a summary is much more expensive than a state.
    modules: [...summarizeStates(operator, states.filter(isNoted)), ...held],
    drifted: registry.enabled.flatMap((module) => {
      const [first, ...others] = driftOf({ releases }, module)?.objects ?? [];
      if (first === undefined) return [];
      return [
        {
          module,
          resource: first.resource,
          outlook: first.outlook,
          since: first.since,
          others: others.length,
        },
      ];
    }),
    pause: pause && {
      reason: pause.reason,
      since: isoTime(pause.sinceMs),
      until: pause.untilMs === undefined ? null : new Date(pause.untilMs).toISOString(),
    },
    // During an outage every binding is stale for the same reason, which `outage` states once.
    staleWatches: staleBindings(runtimes, clock, outage === undefined ? 'all' : 'refused'),
    unfilteredObjects: unfilteredObjects(runtimes, clock),
    unfinished: unfinishedRuns(operator, runtimes),
    updates: [...registry.modules.map(({ name }) => name), ...notInstalled].flatMap((module) => {
      const { update } = updateOf(operator, module);
      return update === undefined ? [] : [{ module, update }];
    }),
    delivery,
  };
}

/** The number of modules per status; statuses without a module are absent. */
function countsOf(states: readonly { readonly status: ModuleStatus }[]): ModuleCounts {
  const counts: Partial<Record<ModuleStatus, number>> = {};
  for (const { status } of states) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The running hooks, the longest running first. */
export function runningHooks({
  execution,
  queues,
}: Pick<Explained, 'execution' | 'queues'>): readonly RunningHookFacts[] {
  return runningHookFacts(execution.running, queues);
}

/** A queue with its head, for the status; empty for a queue that has just become idle. */
function busyQueue(operator: Explained, queue: TaskQueue<Task>, runs: Runs): readonly BusyQueue[] {
  const { clock, registry } = operator;
  const [head] = queue.entriesFromRunning;
  // Seconds left are computed here, because the status has no clock.
  if (head === undefined) return [];
  const { status } = queue;
  const { task, failingSinceMs } = head;
  const module = moduleLabelOf(task);
  const leftMs = status.type === 'delayed' ? status.sinceMs + status.delayMs - clock.steadyMs() : undefined;
  const failedRun = { queue: queue.name, module: module || undefined, result: 'failed' } as const;
  return [
    {
      name: queue.name,
      tasks: queue.entries.length,
      head: titleOf(task),
      module,
      hook: failedHookOf(task, registry),
      isFreedByPause: task.type === 'ModuleRun' || task.type === 'ModuleEnsureCRDs',
      file: head.isFailing ? failedFile(head, registry) : '',
      since:
        head.isFailing && failingSinceMs !== undefined ? isoTime(wallTimeOf(failingSinceMs, clock)) : null,
      run: head.isFailing ? newest(runs, failedRun) : '',
      failures: head.isFailing ? head.failures : 0,
      lastError: head.lastError,
      ...(head.lastCode === 'HOOK_TEMPORARY' && { isNotYet: true }),
      retryInMs: leftMs,
    },
  ];
}

/** The hook of the task, or the one that failed in a run of a module; empty without one. */
function failedHookOf(task: Task, registry: Explained['registry']): string {
  if ('hook' in task) return fullName(task.hook.hook);
  const part = 'module' in task ? failedPartOf(task, registry.tracked.get(task.module)) : undefined;
  return part?.type === 'hook' ? fullName(part.hook) : '';
}

/** The run of a hook that is in progress. */
function runOf({ hook, module, queue }: RunningHookFacts, runs: Runs): string {
  const name = module === '' ? hook : hook.slice(module.length + 1);
  return newest(runs, { hook: name, module: module || undefined, queue, result: 'running' });
}

function newest(runs: Runs, query: Omit<Parameters<Runs['list']>[0], 'limit'>): string {
  return runs.list({ ...query, limit: 1 }).runs[0]?.id ?? '';
}
