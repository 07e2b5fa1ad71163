import type { DriftedObject } from '../helm/drift/drift-report.ts';
import type { Module } from '../modules/module.ts';
import type { QueueEntry, TaskQueue } from '../queue/task-queue.ts';
import type {
  ModuleDrift,
  ModuleExplanation,
  ModuleFailure,
  ModulePause,
  ModuleStatus,
  ModuleSummary,
} from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import { isolatedQueueOf } from './isolation.ts';
import type { Operator } from './operator.ts';
import type { ReleaseInCluster } from './releases.ts';
import { describeTask, moduleOf, type Task } from './tasks.ts';

interface Place {
  readonly queue: TaskQueue<Task>;
  readonly entry: QueueEntry<Task>;
  readonly index: number;
}

/** What is known of all modules, in run order. */
export function summarizeModules(operator: Operator): readonly ModuleSummary[] {
  return operator.modules.map(({ name }) => {
    const failure = failureOf(operator, name);
    const pause = pauseOf(operator, name);
    return {
      module: name,
      status: statusOf(operator, name),
      ...decisionOf(operator, name),
      waitsFor: waitsFor(operator, name),
      lastError: failure?.error ?? null,
      nextTryAt: failure?.nextAttemptAt ?? null,
      paused: pause && { reason: pause.reason, until: pause.until },
    };
  });
}

/** Everything there is to say about a module. @param releases those in the cluster */
export function explainModule(
  operator: Operator,
  module: Module,
  releases: readonly ReleaseInCluster[],
): ModuleExplanation {
  const { name, order, path, source, manifest } = module;
  const state = operator.moduleStates.get(name);
  const release = releases.find((other) => other.name === name);
  return {
    module: name,
    status: statusOf(operator, name),
    ...decisionOf(operator, name),
    position: { place: operator.modules.indexOf(module) + 1, of: operator.modules.length, order },
    path: source ?? path,
    version: module.version ?? null,
    deletionPolicy: manifest.deletionPolicy,
    requires: manifest.requires.map((required) => ({
      name: required.name,
      range: required.version ?? null,
      isOptional: required.isOptional,
      status: isKnown(operator, required.name) ? statusOf(operator, required.name) : null,
    })),
    phase: state?.phase ?? 'not started',
    waitsFor: waitsFor(operator, name),
    failure: failureOf(operator, name),
    lastRun:
      state?.lastRun === undefined
        ? null
        : {
            startedAt: timeOf(state.lastRun.startedAtMs),
            durationMs: state.lastRun.durationMs,
            result: state.lastRun.result,
          },
    nextReconcileAt: timeOrNull(operator.requeues.dueMs(name)),
    release: release === undefined ? null : { revision: release.revision, isOwned: release.isOwned },
    pause: pauseOf(operator, name),
    drift: driftOf(operator, name),
  };
}

function decisionOf({ discovery }: Operator, name: ModuleName) {
  const decision = discovery?.decisions.get(name);
  if (decision !== undefined) {
    const { isEnabled, source, reason } = decision;
    return { isEnabled, source, reason };
  }
  return { isEnabled: false, source: null, reason: 'no discovery is over yet' };
}

function statusOf(operator: Operator, name: ModuleName): ModuleStatus {
  const decision = operator.discovery?.decisions.get(name);
  if (operator.discovery === undefined) return 'undecided';
  if (decision?.source === 'authorization') return 'unauthorized';
  const places = placesOf(operator, name);
  if (!operator.isEnabled(name))
    return places.some(({ entry }) => entry.task.type === 'ModuleDelete') ? 'deleting' : 'disabled';
  if (operator.deps.pauses.of(name) !== undefined) return 'paused';
  if (isolatedQueueOf(operator, name) !== undefined) return 'isolated';
  const state = operator.moduleStates.get(name);
  if (state?.givenUp !== undefined || failedPlaceOf(places) !== undefined) return 'failing';
  return state?.phase === 'ready' ? 'ready' : 'starting';
}

function isKnown({ modules }: Operator, name: ModuleName): boolean {
  return modules.some((module) => module.name === name);
}

/** Where tasks of the module stand, in the order of queues. */
function placesOf({ deps }: Operator, name: ModuleName): readonly Place[] {
  return deps.queues.all.flatMap((queue) =>
    queue.entriesFromRunning.flatMap((entry, index) =>
      belongsTo(entry.task, name) ? [{ queue, entry, index }] : [],
    ),
  );
}

/** A parallel run shows what failed of all its modules; what failed of one shows on its own task. */
function failedPlaceOf(places: readonly Place[]): Place | undefined {
  return places.find(({ entry }) => entry.failures > 0 && entry.task.type !== 'ParallelModuleRun');
}

function belongsTo(task: Task, name: ModuleName): boolean {
  return task.type === 'ParallelModuleRun' ? task.runs.pending.includes(name) : moduleOf(task) === name;
}

function waitsFor(operator: Operator, name: ModuleName): readonly string[] {
  const heldUp = [...convergeObstacle(operator), ...configObstacle(operator)];
  if (operator.discovery === undefined) return [...heldUp, 'the first discovery of modules'];
  const waits: string[] = [];
  // A pause holds up no deletion.
  if (operator.isEnabled(name) && operator.deps.pauses.of(name) !== undefined)
    waits.push('the end of its pause');
  for (const { queue, index } of placesOf(operator, name)) {
    const head = queue.entriesFromRunning[0];
    if (index > 0 && head !== undefined) waits.push(headText(queue, head, index));
  }
  const state = operator.moduleStates.get(name);
  if (state?.phase === 'wait-for-synchronization' && !state.synchronization.isDone)
    waits.push('the first runs of its hooks with kubernetes bindings');
  return [...waits, ...heldUp];
}

/**
 * What fails before it is decided about all modules: until that is over, what was changed for any of them is not in force.
 * At most one sentence.
 */
function convergeObstacle({ main }: Operator): readonly string[] {
  const [head] = main.entries;
  if (head === undefined || head.failures === 0 || moduleOf(head.task) !== '') return [];
  if ('binding' in head.task && head.task.binding === 'afterAll') return [];
  if (!main.entries.some(({ task }) => decidesAboutModules(task))) return [];
  const nextMs = nextAttemptMs(main);
  const next = nextMs === undefined ? '' : ` (next attempt at ${timeOf(nextMs)})`;
  return [
    `${describeTask(head.task, main.name)} at the head of queue ${main.name}${next}${failedText(head)}`,
  ];
}

function configObstacle({ configProblem }: Operator): readonly string[] {
  if (configProblem === undefined) return [];
  return [`a ConfigMap that can be read, until then its last valid content stays in force: ${configProblem}`];
}

function decidesAboutModules({ type }: Task): boolean {
  return type === 'ConvergeModules' || type === 'ApplyKubeConfigValues' || type === 'ReloadFiles';
}

function headText(queue: TaskQueue<Task>, head: QueueEntry<Task>, index: number): string {
  const others = index > 1 ? ` and ${index - 1} more` : '';
  return `${describeTask(head.task, queue.name)} in front of it in queue ${queue.name}${others}${failedText(head)}`;
}

function failedText({ failures, lastError }: QueueEntry<Task>): string {
  if (failures === 0) return '';
  return `, which failed ${failures === 1 ? 'once' : `${failures} times`}: ${lastError}`;
}

/** When the head of a queue is tried again, in milliseconds since the epoch; undefined while it does not sleep. */
function nextAttemptMs({ status }: TaskQueue<Task>): number | undefined {
  return status.type === 'delayed' ? status.sinceMs + status.delayMs : undefined;
}

function failureOf(operator: Operator, name: ModuleName): ModuleFailure | null {
  const state = operator.moduleStates.get(name);
  if (state?.givenUp !== undefined)
    return { error: state.givenUp.error, attempts: 1, nextAttemptAt: null, isGivenUp: true };
  const failed = failedPlaceOf(placesOf(operator, name));
  if (failed === undefined) return null;
  const { queue, entry, index } = failed;
  return {
    error: entry.lastError,
    attempts: entry.failures,
    nextAttemptAt: index === 0 ? timeOrNull(nextAttemptMs(queue)) : null,
    isGivenUp: false,
  };
}

function pauseOf({ deps: { pauses } }: Operator, name: ModuleName): ModulePause | null {
  const pause = pauses.of(name);
  if (pause === undefined) return null;
  return {
    reason: pause.reason,
    since: timeOf(pause.sinceMs),
    until: pause.untilMs === undefined ? null : timeOf(pause.untilMs),
    isOfAll: pauses.isOfAll(name),
  };
}

function driftOf({ deps: { releases } }: Operator, name: ModuleName): ModuleDrift | null {
  const report = releases.drift(name);
  if (report === undefined) return null;
  const objects = report.objects.map(({ resource, fields, changedBy, sinceMs, remedy }) => {
    return { resource, fields, changedBy, since: timeOf(sinceMs), outlook: outlookOf(remedy) };
  });
  const { mode, uncompared } = report;
  return { mode, objects, ...(uncompared !== undefined && { uncompared }) };
}

function outlookOf(remedy: DriftedObject['remedy']): string {
  switch (remedy.type) {
    case 'none':
      return 'nobody changes it back';
    case 'held':
      return 'it is changed back when the module is resumed';
    case 'refused':
      return `the API server did not let it be changed back, it is tried again at ${timeOf(remedy.untilMs)}`;
    case 'delayed':
      return `others change it again and again, it is changed back at ${timeOf(remedy.untilMs)}`;
  }
}

function timeOrNull(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : timeOf(epochMs);
}

function timeOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
