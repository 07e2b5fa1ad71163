import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { headlineOf } from '@addon-operator/strings/headline';
import type { QueueEntry, TaskQueue } from '@addon-operator/task-queue';
import type { Place } from '../model/module-places.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import { isIsolated } from '../queues/isolation.ts';
import { isPutOff, putOffText } from '../queues/put-off.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import { errorOfTask } from '../status/error-of-task.ts';
import type { Wait } from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Explained } from './explained.ts';

/** Waits that modules share; read once for a description of many modules. */
interface CommonWaits {
  readonly heldUp: readonly Wait[];
  /** The sentence about the head of a queue, for a task behind it. */
  readonly behind: (place: Place) => Wait;
}

/**
 * @param maxError the length to which an error is cut, since it is repeated for each module;
 * default: not cut
 */
export function commonWaits(operator: Explained, maxError = Number.POSITIVE_INFINITY): CommonWaits {
  const heads = new Map<TaskQueue<Task>, readonly [string, string]>();
  return {
    heldUp: [...convergeObstacle(operator, maxError), ...configObstacle(operator)],
    behind: ({ queue, index, head }) => {
      let known = heads.get(queue);
      if (known === undefined) {
        known = [titleOf(head.task), failedText(head, maxError)];
        heads.set(queue, known);
      }
      const others = index > 1 ? ` and ${index - 1} more` : '';
      const failed = known[1] === '' ? '' : `; ${index > 1 ? 'the first' : 'it'}${known[1]}`;
      return { type: 'queue', text: `${known[0]}${others} in front of it in queue ${queue.name}${failed}` };
    },
  };
}

/** The phrases for "waits for …", the nearest first. */
export function waitsOf(
  operator: Explained,
  name: ModuleName,
  places: readonly Place[],
  { heldUp, behind }: CommonWaits,
): readonly Wait[] {
  if (operator.registry.discovery === undefined)
    return [...heldUp, { type: 'discovery', text: 'the first discovery of modules' }];
  const waits: Wait[] = [];
  const others = (...texts: readonly string[]): number =>
    waits.push(...texts.map((text) => ({ type: 'other', text }) as const));
  // A pause does not delay a deletion.
  if (operator.registry.isEnabled(name) && operator.pauses.of(name) !== undefined)
    waits.push(waitForPause(operator, name));
  others(...failingRequirements(operator, name, places));
  for (const [place, count] of nearestPlaces(places)) {
    const wait = behind(place);
    waits.push(
      count === 1 ? wait : { ...wait, text: `${wait.text}; ${count} tasks of the module wait for that` },
    );
  }
  others(...operator.execution.running.longOf(name));
  const tracked = operator.registry.tracked.get(name);
  if (tracked?.phase === 'wait-for-synchronization' && !tracked.synchronization.isDone)
    others('the first runs of its hooks with kubernetes bindings');
  if (isPutOff(operator, name, places)) others(putOffText(operator, name));
  waits.push(...heldUp);
  return waits;
}

/** The first task of a module behind the head of each queue, and how many there are: ticks add up behind a task that hangs. */
function nearestPlaces(places: readonly Place[]): readonly (readonly [Place, number])[] {
  const waiting = Map.groupBy(
    places.filter(({ index }) => index > 0),
    ({ queue }) => queue,
  );
  return [...waiting.values()].flatMap((ofQueue) =>
    ofQueue.slice(0, 1).map((place) => [place, ofQueue.length] as const),
  );
}

/** The wait for a pause, or for the developer to whom the module is handed over. */
function waitForPause({ pauses }: Explained, name: ModuleName): Wait {
  const holder = pauses.of(name)?.handedOverTo;
  if (holder === undefined) return { type: 'pause', text: 'the end of its pause' };
  return { type: 'other', text: `addon-operator dev of ${holder} to return it` };
}

/** Required modules that fail while others continue. */
function failingRequirements(
  { registry }: Explained,
  name: ModuleName,
  places: readonly Place[],
): readonly string[] {
  const { requires } = registry.find(name)?.manifest ?? { requires: [] };
  if (requires.length === 0) return [];
  const isFailing = (other: ModuleName): boolean =>
    registry.tracked.get(other)?.stall !== undefined ||
    places.some(({ queue, index, head }) => index > 0 && isIsolated(queue) && moduleOf(head.task) === other);
  return requires
    .filter((required) => isFailing(required.name))
    .map((required) => `module ${required.name}, which fails`);
}

/**
 * The failure that delays the decision about all modules: until it is solved, no change takes
 * effect. At most one sentence.
 */
function convergeObstacle({ router: { main } }: Explained, maxError: number): readonly Wait[] {
  const [head] = main.entries;
  if (head === undefined || !head.isFailing || moduleOf(head.task) !== '') return [];
  // afterAll hooks run when all modules are done, so they delay no decision.
  if ('binding' in head.task && head.task.binding === 'afterAll') return [];
  if (!main.entries.some(({ task }) => decidesAboutModules(task))) return [];
  const nextMs = nextAttemptMs(main);
  const next = nextMs === undefined ? '' : ` (next attempt at ${isoTime(nextMs)})`;
  const text = `${titleOf(head.task)} at the head of queue ${main.name}${next}, which${failedText(head, maxError)}`;
  return [{ type: 'converge', text }];
}

/** The problem of an invalid ConfigMap, whose changes no module gets. At most one sentence. */
function configObstacle({ converge: { configProblem } }: Explained): readonly Wait[] {
  if (configProblem === undefined) return [];
  const text = `a valid ConfigMap; until then the last valid content stays in use: ${configProblem}`;
  return [{ type: 'config', text }];
}

/** Whether the task decides which modules run, or with which values. */
function decidesAboutModules({ type }: Task): boolean {
  return type === 'ConvergeModules' || type === 'ApplyKubeConfigValues' || type === 'ReloadFiles';
}

/** The end of a long error is kept: programs print the reason for their failure last. */
function failedText({ task, failures, lastError }: QueueEntry<Task>, maxError: number): string {
  if (failures === 0) return '';
  const own = headlineOf(errorOfTask(titleOf(task), lastError));
  const error = own.length <= maxError ? own : `…${own.slice(1 - maxError)}`;
  return ` failed ${failures === 1 ? 'once' : `${failures} times`}: ${error}`;
}

/**
 * The time of the next attempt in milliseconds since the epoch; undefined unless the head waits for
 * one.
 */
export function nextAttemptMs({ status }: TaskQueue<Task>): number | undefined {
  return status.type === 'delayed' ? status.retryAtMs : undefined;
}
