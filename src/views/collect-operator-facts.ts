import type { ApiHealth } from '@addon-operator/kube-client/api-health';
import type { TaskQueue } from '@addon-operator/task-queue';
import { runningHookFacts } from '../model/running-hooks.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import { allRuntimes, staleBindings, unfilteredObjects } from '../queues/binding-problems.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import { unfinishedRuns } from '../queues/unfinished-runs.ts';
import type { ModuleStatus } from '../status/module-explanation.ts';
import {
  type BusyQueue,
  isNoted,
  type ModuleCounts,
  type OperatorFacts,
  type RunningHookFacts,
} from '../status/operator-status.ts';
import { configProblemOf, unloadedText } from './collect-obstacles.ts';
import { driftOf } from './explain-drift.ts';
import { heldSummaries, moduleStates, summarizeStates } from './explain-module.ts';
import { deliveryState, updateOf } from './explain-update.ts';
import type { Explained } from './explained.ts';

/** Whether the API server responds. */
type Health = Pick<ApiHealth, 'outage'>;

/** Collects the facts of the operator's status. The sentences are made of them in `status/`. */
export function collectOperatorFacts(operator: Explained, { outage }: Health): OperatorFacts {
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
    outage,
    firstConverge: converge.first,
    // Idle queues are left out: with keys there may be thousands of them.
    queues: busy
      .toSorted((one, other) => Number(other.name === 'main') - Number(one.name === 'main'))
      .flatMap((queue) => busyQueue(queue, clock)),
    configProblem: configProblemOf(operator),
    editConfigMap: converge.editConfigMap,
    unloadedFiles: converge.unloaded.map(unloadedText),
    runningHooks: runningHooks(operator),
    counts: countsOf([...states, ...held]),
    // Of ready modules only the number matters, and a summary is much more expensive than a state.
    modules: [...summarizeStates(operator, states.filter(isNoted)), ...held],
    drifted: registry.enabled.flatMap((module) => {
      const [first, ...others] = driftOf({ releases }, module)?.objects ?? [];
      if (first === undefined) return [];
      return [{ module, resource: first.resource, outlook: first.outlook, others: others.length }];
    }),
    pause: pause && {
      reason: pause.reason,
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
function busyQueue(queue: TaskQueue<Task>, clock: Explained['clock']): readonly BusyQueue[] {
  const [head] = queue.entriesFromRunning;
  // Seconds left are computed here, because the status has no clock.
  if (head === undefined) return [];
  const { status } = queue;
  const leftMs = status.type === 'delayed' ? status.sinceMs + status.delayMs - clock.steadyMs() : undefined;
  return [
    {
      name: queue.name,
      tasks: queue.entries.length,
      head: titleOf(head.task),
      module: moduleOf(head.task),
      failures: head.isFailing ? head.failures : 0,
      lastError: head.lastError,
      ...(head.lastCode === 'HOOK_TEMPORARY' && { isNotYet: true }),
      retryInMs: leftMs,
    },
  ];
}
