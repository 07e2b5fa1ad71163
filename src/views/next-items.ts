import type { Clock } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { parseCrontab, type Schedule } from '@addon-operator/crontab';
import { headlineOf } from '@addon-operator/strings/headline';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ScheduleBinding } from '../hook-config/hook-config.ts';
import { moduleNameOf, title } from '../hooks/hook.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import { hookOf, moduleOf, type Task } from '../model/tasks.ts';
import { allRuntimes, type BindingProblemsParts } from '../queues/binding-problems.ts';
import type { HoldCause } from '../queues/held-runs.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { heldText } from '../queues/unfinished-runs.ts';
import { errorOfTask } from '../status/error-of-task.ts';
import type { NextItem } from '../status/next-item.ts';

/** The parts that upcoming events are read from. */
export interface NextItemsParts extends BindingProblemsParts {
  readonly queues: QueueSet<Task>;
  readonly clock: Clock;
  readonly registry: ModuleRegistry;
  readonly router: Pick<TaskRouter, 'failedScripts' | 'held' | 'requeues' | 'takesRecheck' | 'takesTicks'>;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll'>;
}

interface Upcoming extends Omit<NextItem, 'at' | 'text'> {
  readonly atMs: number;
  /** Called only for listed items: hundreds of hooks may have schedules. */
  readonly text: () => string;
}

/**
 * The events within a time span whose times are known now, the next first; of each crontab only the
 * next tick.
 *
 * @param limit the maximum number of items
 */
export function nextItems(
  parts: NextItemsParts,
  withinMs: number,
  limit = Number.POSITIVE_INFINITY,
): readonly NextItem[] {
  const nowMs = parts.clock.wallMs();
  return [
    // Each source is a generator of its own: a new kind of event is one more line here.
    ...retries(parts),
    ...heldRuns(parts),
    ...scripts(parts),
    ...rechecks(parts),
    ...pauseEnds(parts),
    ...ticks(parts, nowMs),
  ]
    .filter(({ atMs }) => atMs <= nowMs + withinMs)
    .toSorted((one, other) => one.atMs - other.atMs)
    .slice(0, limit)
    .map(({ atMs, kind, text, ...item }) => ({ at: isoTime(atMs), kind, text: text(), ...item }));
}

/** The next attempt of each queue whose head has failed. */
function* retries({ queues }: NextItemsParts): Generator<Upcoming> {
  for (const queue of queues.all) {
    const [head] = queue.entries;
    if (head === undefined || queue.status.type !== 'delayed') continue;
    const { task, failures, lastError } = head;
    yield {
      atMs: queue.status.retryAtMs,
      kind: 'retry',
      text: () =>
        `queue ${queue.name} retries ${titleOf(task)} (failed attempts: ${failures}): ${headlineOf(errorOfTask(titleOf(task), lastError))}`,
      module: moduleOf(task),
      hook: hookOf(task),
      crontab: '',
    };
  }
}

/** Hook runs that wait outside of their queue: delayed by the hook, or by `debounce`. */
const HELD_KINDS: Readonly<Record<HoldCause['type'], NextItem['kind']>> = {
  unfinished: 'retry',
  debounced: 'debounce',
};

function* heldRuns({ router }: NextItemsParts): Generator<Upcoming> {
  for (const held of router.held.all) {
    const { hook } = held.hook;
    yield {
      atMs: held.dueAtMs,
      kind: HELD_KINDS[held.cause.type],
      text: () => heldText(held),
      module: moduleNameOf(hook),
      hook: hook.name,
      crontab: '',
    };
  }
}

/** The retry of failed enabled scripts, which all run together. */
function* scripts({ registry, router }: NextItemsParts): Generator<Upcoming> {
  const { dueMs: atMs } = router.failedScripts;
  if (atMs === undefined) return;
  for (const module of registry.discovery?.undecided?.keys() ?? [])
    yield {
      atMs,
      kind: 'retry',
      text: () => `the enabled script of module ${module} runs again`,
      module,
      hook: '',
      crontab: '',
    };
}

/** Requested reconciles of modules, such as by `reconcileEvery` or a flow hook. */
function* rechecks({ registry, router }: NextItemsParts): Generator<Upcoming> {
  for (const { name } of registry.modules) {
    const atMs = router.requeues.dueMs(name);
    // Requests of modules that were disabled, or are being deleted, have no effect.
    if (atMs !== undefined && router.takesRecheck(name))
      yield {
        atMs,
        kind: 'recheck',
        text: () => `module ${name} is checked`,
        module: name,
        hook: '',
        crontab: '',
      };
  }
}

/** The ends of pauses that have one. */
function* pauseEnds({ registry, pauses }: NextItemsParts): Generator<Upcoming> {
  let isAllSaid = false;
  for (const { name } of registry.modules) {
    const pause = pauses.of(name);
    if (pause?.untilMs === undefined) continue;
    const isOfAll = pauses.isOfAll(name);
    // A pause of all modules is listed once, not for each of them.
    if (isOfAll && isAllSaid) continue;
    isAllSaid ||= isOfAll;
    yield {
      atMs: pause.untilMs,
      kind: 'pause-end',
      text: () => `the pause of ${isOfAll ? 'all modules' : `module ${name}`} ends: ${pause.reason}`,
      module: isOfAll ? '' : name,
      hook: '',
      crontab: '',
    };
  }
}

/** Parsed schedules. Parsing takes a millisecond, most of it for the time zone. */
const SCHEDULES = new WeakMap<ScheduleBinding, Schedule>();

function scheduleOf(binding: ScheduleBinding): Schedule {
  const known = SCHEDULES.get(binding);
  if (known !== undefined) return known;
  const made = parseCrontab(binding.crontab);
  SCHEDULES.set(binding, made);
  return made;
}

/** The next tick of each crontab of hooks that take ticks now. */
function* ticks(parts: NextItemsParts, nowMs: number): Generator<Upcoming> {
  // By crontab, since many hooks share one.
  const times = new Map<string, number | undefined>();
  for (const runtime of allRuntimes(parts)) {
    if (!parts.router.takesTicks(runtime)) continue;
    const { hook } = runtime;
    for (const binding of hook.config.schedule) {
      const { crontab, name } = binding;
      if (!times.has(crontab)) times.set(crontab, scheduleOf(binding).next(nowMs));
      const atMs = times.get(crontab);
      if (atMs !== undefined)
        yield {
          atMs,
          kind: 'schedule',
          text: () => `${title(hook)} runs for schedule ${name}`,
          module: moduleNameOf(hook),
          hook: hook.name,
          crontab,
        };
    }
  }
}
