import type { Clock } from '@addon-operator/base/clock';
import { wallTimeOf } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Debounce, KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import { coalesceEvents } from '../hooks/coalesce-events.ts';
import type { EventBacklog } from '../hooks/event-backlog.ts';
import { coalesces } from '../hooks/hook.ts';
import { queueOf } from '../hooks/queue-keys.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { ownQueueName } from '../model/own-queue.ts';
import type { HookTask } from '../model/tasks.ts';
import { countQueuedEvents, eventsOf, withoutEvents } from './queued-events.ts';

export interface HeldRunsDeps {
  readonly clock: Clock;
  readonly backlog: Pick<EventBacklog, 'bytesOf' | 'change' | 'hold'>;
  /** Queues a run whose delay is over. */
  readonly release: (task: HookTask) => void;
}

/** Runs of one hook that wait outside of their queue, for status and lists. */
export type HoldCause =
  /** The hook is not done yet, for the reason that it gave in its own words. */
  | { readonly type: 'unfinished'; readonly reason: string }
  /** Events are held back by the `debounce` of their binding. */
  | { readonly type: 'debounced'; readonly binding: KubernetesBinding };

/** Runs of one hook that wait beside their queue, as they are shown. */
export interface HeldRun {
  readonly hook: HookRuntime;
  /** The queue they go to after the delay. */
  readonly queue: string;
  /** The same without the key. */
  readonly baseQueue: string;
  /** The reason that the hook gave for its delay; undefined for debounced events. */
  readonly cause: HoldCause;
  readonly contexts: number;
  /** The end of the delay, on the wall clock. */
  readonly dueAtMs: number;
}

interface Held {
  readonly hook: HookRuntime;
  readonly queue: string;
  readonly cause: HoldCause;
  readonly sinceMs: number;
  tasks: HookTask[];
  dueMs: number;
  readonly end: AbortController;
}

/**
 * Hook runs that wait outside of their queue, so that runs of other hooks do not wait: runs that a
 * hook asked to repeat later (`retryAfter`), and events within the `debounce` of their binding. The
 * router adds runs, timers release them into the queue. Later runs of the hook for the same queue
 * join a delayed one, so that each hook gets its events in order.
 */
export class HeldRuns {
  readonly #deps: HeldRunsDeps;
  readonly #count: ReturnType<typeof countQueuedEvents>;
  readonly #held = new Set<Held>();
  /** The same by hook and {@link keyOf}, because a queue may have thousands of keys. */
  readonly #index = new Map<HookRuntime, Map<string, Held>>();

  constructor(deps: HeldRunsDeps) {
    this.#deps = deps;
    this.#count = countQueuedEvents(deps.backlog);
    deps.backlog.hold({
      rows: () => [...this.#held].map(({ tasks }) => tasks.flatMap(eventsOf)),
      drop: (events) => this.#drop(events),
    });
  }

  /** In the order in which they were added. */
  get all(): readonly HeldRun[] {
    return [...this.#held].map(({ hook, queue, cause, tasks, dueMs }) => ({
      hook,
      queue,
      baseQueue: queueOf(tasks[0]?.reasons[0])?.queue ?? queue,
      cause,
      contexts: tasks.reduce((sum, task) => sum + task.reasons.length, 0),
      dueAtMs: wallTimeOf(dueMs, this.#deps.clock),
    }));
  }

  /**
   * Delays runs of a hook for the time that its last run requested.
   *
   * @param tasks in the order in which the hook gets them
   */
  hold(
    tasks: readonly [HookTask, ...HookTask[]],
    queue: string,
    error: { readonly retryAfterMs: number },
  ): void {
    const [{ hook }] = tasks;
    // Runs that were held in the meantime are newer, so they go behind.
    const cause: HoldCause = { type: 'unfinished', reason: messageOf(error) };
    const waiting = this.#find(hook, queue, cause);
    if (waiting !== undefined) this.#remove(waiting);
    const sinceMs = this.#deps.clock.steadyMs();
    this.#begin({
      hook,
      queue,
      cause,
      sinceMs,
      tasks: [...tasks, ...(waiting?.tasks ?? [])],
      dueMs: sinceMs + error.retryAfterMs,
      end: new AbortController(),
    });
  }

  /**
   * Delays the run for an event until its binding has had no event for `afterMs`, but not longer
   * than `maxMs`.
   */
  debounce(task: HookTask, binding: KubernetesBinding, { afterMs, maxMs }: Debounce): void {
    const nowMs = this.#deps.clock.steadyMs();
    const queue = ownQueueName(task);
    const cause: HoldCause = { type: 'debounced', binding };
    const held = this.#find(task.hook, queue, cause);
    if (held !== undefined) {
      held.tasks.push(task);
      held.dueMs = Math.min(held.sinceMs + maxMs, nowMs + afterMs);
      this.#count([], [task]);
      return;
    }
    this.#begin({
      hook: task.hook,
      queue,
      cause,
      sinceMs: nowMs,
      tasks: [task],
      dueMs: nowMs + afterMs,
      end: new AbortController(),
    });
  }

  /**
   * Appends a run to the delayed ones of the hook for that queue. Returns false if there are none.
   */
  join(task: HookTask): boolean {
    if (this.#held.size === 0) return false;
    const held = this.#find(task.hook, ownQueueName(task), { type: 'unfinished' });
    if (held === undefined) return false;
    held.tasks.push(task);
    this.#count([], [task]);
    return true;
  }

  /** Releases the runs of a hook for the queue and all its keys now. */
  releaseNow(hook: HookRuntime, queue: string): void {
    const held = [...this.#held].filter((each) => each.hook === hook && isOf(each, queue));
    for (const each of held) this.#release(each);
  }

  /**
   * Removes and returns the held events of one binding.
   *
   * @param which `older` than events in queues (delayed runs), or `newer` (debounced events)
   */
  takeEvents(
    hook: HookRuntime,
    binding: KubernetesBinding,
    which: 'older' | 'newer',
  ): readonly KubernetesEvent[] {
    const taken = new Set<KubernetesEvent>();
    for (const held of this.#held) {
      if (held.hook !== hook || ageOf(held.cause) !== which) continue;
      for (const waiting of held.tasks.flatMap(eventsOf))
        if (waiting.binding === binding) taken.add(waiting.event);
    }
    this.#drop(taken);
    return [...taken];
  }

  /** Removes and returns the runs of hooks that must not run any more, or not by themselves. */
  take(hooks: readonly HookRuntime[]): readonly HookTask[] {
    return this.#take(({ hook }) => hooks.includes(hook));
  }

  /** Cancels all delays; the runs are dropped. */
  stop(): void {
    this.#take(() => true);
  }

  #find(hook: HookRuntime, queue: string, cause: CauseKey): Held | undefined {
    return this.#index.get(hook)?.get(keyOf({ queue, cause }));
  }

  #begin(held: Held): void {
    this.#held.add(held);
    const ofHook = this.#index.get(held.hook) ?? new Map<string, Held>();
    this.#index.set(held.hook, ofHook.set(keyOf(held), held));
    this.#count([], held.tasks);
    void this.#wait(held);
  }

  #remove(held: Held): void {
    this.#held.delete(held);
    const ofHook = this.#index.get(held.hook);
    ofHook?.delete(keyOf(held));
    if (ofHook?.size === 0) this.#index.delete(held.hook);
    held.end.abort();
    this.#count(held.tasks, []);
  }

  async #wait(held: Held): Promise<void> {
    const { clock } = this.#deps;
    try {
      do await clock.sleep(Math.max(0, held.dueMs - clock.steadyMs()), held.end.signal);
      while (
        // Each further event moves `dueMs`: sleep again until it has really passed.
        held.dueMs > clock.steadyMs()
      );
    } catch {
      return;
    }
    this.#release(held);
  }

  #release(held: Held): void {
    const { tasks } = held;
    this.#remove(held);
    if (held.hook.isStopped) return;
    // Delayed runs keep their number. Debounced events become one run, unless a delayed run of the
    // hook takes them.
    switch (held.cause.type) {
      case 'unfinished':
        for (const task of tasks) this.#deps.release(task);
        return;
      case 'debounced':
        for (const task of asOneRun(tasks)) if (!this.join(task)) this.#deps.release(task);
    }
  }

  #take(isTaken: (held: Held) => boolean): readonly HookTask[] {
    const taken: HookTask[] = [];
    for (const held of this.#held) {
      if (!isTaken(held)) continue;
      this.#remove(held);
      taken.push(...held.tasks);
    }
    return taken;
  }

  #drop(events: ReadonlySet<KubernetesEvent>): void {
    if (events.size === 0) return;
    for (const held of this.#held) {
      const left = held.tasks.flatMap((task) => withoutEvents(task, events) ?? []);
      this.#count(held.tasks, left);
      held.tasks = left;
      if (left.length === 0) this.#remove(held);
    }
  }
}

/** The part of a cause by which runs join others. */
type CauseKey = Extract<HoldCause, { type: 'debounced' }> | { readonly type: 'unfinished' };

function keyOf({ queue, cause }: { readonly queue: string; readonly cause: CauseKey }): string {
  switch (cause.type) {
    case 'unfinished':
      return `unfinished ${queue}`;
    case 'debounced':
      return `${cause.binding.index} ${queue}`;
  }
}

/** The age of waiting events, compared with those of the same binding in queues. */
function ageOf(cause: HoldCause): 'older' | 'newer' {
  switch (cause.type) {
    case 'unfinished':
      return 'older';
    case 'debounced':
      return 'newer';
  }
}

function isOf({ queue, tasks }: Held, name: string): boolean {
  return queue === name || tasks.some(({ reasons: [reason] }) => queueOf(reason)?.queue === name);
}

/**
 * Combines runs for events of one binding; empty if newer events have made all of them obsolete.
 */
function asOneRun(tasks: readonly HookTask[]): readonly HookTask[] {
  const [first] = tasks;
  if (first === undefined) return [];
  // A v0 hook gets one context per run.
  if (first.hook.hook.config.version === 'v0') return tasks;
  const all = tasks.flatMap((task) => task.reasons);
  const reasons = coalesces(first.hook.hook) ? coalesceEvents(all) : all;
  return reasons.length === 0 ? [] : [{ ...first, reasons }];
}
