import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@addon-operator/base/clock';
import { codeOf, type ErrorCode, type ErrorFacts, factsOf, messageOf } from '@addon-operator/base/errors';
import { retryDelayMs } from '@addon-operator/concurrency/backoff';
import { guarded, nothing, unchanged } from './guarded.ts';
import type { Lane } from './lanes.ts';
import type {
  MeasureAction,
  QueueEntry,
  QueuePlace,
  QueueSignals,
  QueueStatus,
  TaskOutcome,
  TaskQueueOptions,
} from './queue-types.ts';

export type {
  QueueEntry,
  QueuePlace,
  QueueSignals,
  TaskFailure,
  TaskOutcome,
  TaskQueueOptions,
} from './queue-types.ts';

/**
 * After so long the queue lets timers, probes and other connections have a turn. Tasks that find nothing to do wait for no
 * I/O: a converge of 1,000 unchanged modules would block the event loop for a second.
 */
const TURN_MS = 10;

/** `signal` aborts when the task shall end where it is; an orderly stop lets it finish. */
export type TaskHandler<T> = (
  entry: QueueEntry<T>,
  queue: TaskQueue<T>,
  signal: AbortSignal,
) => Promise<TaskOutcome<T>>;

interface MutableEntry<T> {
  readonly id: number;
  task: T;
  queuedAtMs: number;
  ahead?: number;
  retryDelayMs?: number;
  startedMs?: number;
  failures: number;
  isFailing: boolean;
  failingSinceMs?: number;
  lastError: string;
  lastCode?: ErrorCode | undefined;
  lastFacts?: ErrorFacts;
  /** A failure from before the task came into this queue, which is still to be waited for. */
  earlierFailure?: TaskOutcome<T>;
}

type Past<T> = Pick<MutableEntry<T>, 'ahead' | 'earlierFailure'>;

/**
 * A first-in-first-out list of tasks with one worker. A task stays at the head while it runs and leaves it only
 * when it succeeded or is removed; a failed one is tried again after a growing delay, and nothing overtakes it
 * except what is put at the head on purpose. The worker sleeps until a task arrives: it never polls.
 */
export class TaskQueue<T> {
  readonly name: string;
  /** Undefined for a queue that is not for the tasks of one key. */
  readonly lane: Lane | undefined;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onFailure: NonNullable<TaskQueueOptions<T>['onFailure']>;
  readonly #measure: MeasureAction;
  readonly #admit: NonNullable<TaskQueueOptions<T>['admit']>;
  readonly #onAdd: NonNullable<TaskQueueOptions<T>['onAdd']>;
  readonly #onChange: NonNullable<TaskQueueOptions<T>['onChange']>;
  readonly #onError: NonNullable<TaskQueueOptions<T>['onError']>;
  #entries: MutableEntry<T>[] = [];
  #status: QueueStatus = { type: 'idle' };
  #running: MutableEntry<T> | undefined;
  #wakeUp: () => void = () => undefined;
  #endDelay: () => void = () => undefined;
  #emptied: (() => void)[] = [];
  #lastId = 0;

  constructor(options: TaskQueueOptions<T>) {
    this.name = options.name;
    this.lane = options.lane;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#measure = options.measure ?? ((_action, act) => act());
    const onError = options.onError ?? nothing;
    this.#onError = onError;
    this.#onFailure = guarded(options.onFailure ?? nothing, nothing, onError);
    this.#admit = guarded(options.admit ?? unchanged, unchanged, onError);
    this.#onAdd = guarded(options.onAdd ?? nothing, nothing, onError);
    this.#onChange = guarded(options.onChange ?? nothing, nothing, onError);
  }

  get entries(): readonly QueueEntry<T>[] {
    return this.#entries;
  }

  /** The entries in the order users expect: the running task first, even when others were put at the head in the meantime. */
  get entriesFromRunning(): readonly QueueEntry<T>[] {
    return this.#measure('IterateSnapshot', () => {
      const running = this.#status.type === 'running' ? this.#running : undefined;
      if (running === undefined || !this.#entries.includes(running)) return this.#entries;
      return [running, ...this.#entries.filter((entry) => entry !== running)];
    });
  }

  get status(): QueueStatus {
    return this.#status;
  }

  /** Whether the worker is at this entry: the handler runs, or the worker waits for its `when`. */
  isAtWork(entry: QueueEntry<T>): boolean {
    return this.#running?.id === entry.id;
  }

  /** Whether the handler runs for this entry: a task that waits for its next attempt is not running. */
  isRunning(entry: QueueEntry<T>): boolean {
    return this.#status.type === 'running' && this.isAtWork(entry);
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Puts tasks at the end, in the given order. */
  append(...tasks: readonly T[]): void {
    this.#addLast(tasks, undefined);
  }

  /** Puts a task at the end that failed once elsewhere: when it comes up, the delay of that failure passes first. */
  appendFailed(task: T, earlierFailure: Extract<TaskOutcome<T>, { type: 'retry' }>): void {
    this.#addLast([task], undefined, { earlierFailure });
  }

  /** Puts tasks at the head, in the given order. A task that is running now goes on; the new head comes next. */
  prepend(...tasks: readonly T[]): void {
    this.#addFirst(tasks, undefined);
  }

  /**
   * Puts a task directly in front of the first one that has to come after it, or at the end when there is none.
   *
   * @param earlierFailure of the task elsewhere: its delay passes first when the task comes up
   */
  insertBefore(
    comesAfter: (task: T) => boolean,
    task: T,
    earlierFailure?: Extract<TaskOutcome<T>, { type: 'retry' }>,
  ): void {
    const past = earlierFailure === undefined ? {} : { earlierFailure };
    const position = this.#entries.findIndex((entry) => comesAfter(entry.task));
    if (position === -1) this.#addLast([task], undefined, past);
    else if (position === 0) this.#addFirst([task], undefined, past);
    else {
      const entries = this.#entriesFor([task], undefined, { ...past, ahead: position });
      this.#measure('AddAfter', () => this.#entries.splice(position, 0, ...entries));
      this.#reportAdded('after', entries);
    }
  }

  /**
   * Removes every task the predicate names and returns them. The task that is running now may be among them: it runs
   * to its end, and its outcome is ignored. A removed task that waited for its retry ends that wait.
   */
  remove(shouldRemove: (task: T, index: number) => boolean): readonly T[] {
    const removed: MutableEntry<T>[] = [];
    this.#entries = this.#measure('DeleteFunc', () =>
      this.#entries.filter((entry, index) => {
        if (!shouldRemove(entry.task, index)) return true;
        removed.push(entry);
        return false;
      }),
    );
    if (this.#running !== undefined && removed.includes(this.#running)) this.#endDelay();
    this.#onChange(removed.filter((entry) => !this.isRunning(entry)).map(taskOf), []);
    this.#tellIfEmpty();
    return removed.map(taskOf);
  }

  /**
   * For the handler of the running task: takes the unbroken row of tasks directly behind it that `belongs` accepts out
   * of the queue. Empty when the running task itself was removed in the meantime.
   */
  takeFollowing(entry: QueueEntry<T>, belongs: (task: T) => boolean): readonly T[] {
    const start = this.#entries.findIndex((other) => other.id === entry.id) + 1;
    if (start === 0) return [];
    let end = start;
    for (let next = this.#entries[end]; next !== undefined && belongs(next.task); next = this.#entries[end])
      end += 1;
    const taken = this.#entries.splice(start, end - start).map(taskOf);
    this.#onChange(taken, []);
    return taken;
  }

  /** For the handler of the running task: the task as it shall be when it is tried again. */
  replaceTask(entry: QueueEntry<T>, task: T): void {
    const own = this.#entries.find((other) => other.id === entry.id);
    if (own === undefined) return;
    const previous = own.task;
    own.task = task;
    this.#onChange([previous], [task]);
  }

  /**
   * Puts what `next` makes of each task in its place, in order, and removes the tasks of which it makes nothing. The task
   * that runs now is not touched.
   */
  rewrite(next: (task: T) => T | undefined): void {
    const left: T[] = [];
    const came: T[] = [];
    this.#entries = this.#entries.filter((entry) => {
      if (this.isRunning(entry)) return true;
      const task = next(entry.task);
      if (task === entry.task) return true;
      left.push(entry.task);
      if (task !== undefined) {
        came.push(task);
        entry.task = task;
      } else if (entry === this.#running) this.#endDelay();
      return task !== undefined;
    });
    this.#onChange(left, came);
    this.#tellIfEmpty();
  }

  /** Shows on a task that waits for others that one of them failed. */
  noteFailure(entry: QueueEntry<T>, message: string): void {
    const own = this.#entries.find((other) => other.id === entry.id);
    if (own === undefined) return;
    own.failures += 1;
    this.#noteFailing(own);
    own.lastError = message;
  }

  /** Resolves as soon as no task is left. */
  async untilEmpty(): Promise<void> {
    while (this.#entries.length > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#emptied.push(resolve);
      await promise;
    }
  }

  /** Ends the delay after a failure at once, so that the head task runs again now. */
  cutDelay(): void {
    this.#endDelay();
  }

  /** Runs tasks until `stop` aborts; then the running handler is waited for. Never rejects. */
  async run(handle: TaskHandler<T>, { stop, abort }: QueueSignals): Promise<void> {
    const ignoreStop = this.#onStop(stop, () => this.#wakeUp());
    let turnMs = this.#clock.steadyMs();
    while (!stop.aborted) {
      const head = this.#entries[0];
      if (head === undefined && this.lane !== undefined) {
        this.lane.end();
        break;
      }
      if (head === undefined) await this.#waitForTask(stop);
      else await this.#attemptHead(head, handle, { stop, abort }).catch((error) => this.#rest(error, stop));
      if (this.#clock.steadyMs() - turnMs < TURN_MS) continue;
      await setImmediate();
      turnMs = this.#clock.steadyMs();
    }
    ignoreStop();
    this.#status = { type: 'stopped' };
  }

  #onStop(stop: AbortSignal, listener: () => void): () => void {
    if (this.lane !== undefined) return this.lane.onClose(listener);
    stop.addEventListener('abort', listener);
    return () => stop.removeEventListener('abort', listener);
  }

  async #waitForTask(stop: AbortSignal): Promise<void> {
    if (this.#status.type !== 'waiting') this.#status = { type: 'waiting', sinceMs: this.#clock.steadyMs() };
    await this.#untilWoken(stop);
  }

  /** Attempts the head, in a lane when it is its turn. The handler needs a place, the delay after a failure does not. */
  async #attemptHead(head: MutableEntry<T>, handle: TaskHandler<T>, signals: QueueSignals): Promise<void> {
    if (this.lane === undefined || head.earlierFailure !== undefined)
      return await this.#attempt(head, handle, signals);
    this.#status = { type: 'queued', sinceMs: this.#clock.steadyMs() };
    await this.lane.inTurn(handle, async (handleInPlace) => {
      this.#status = { type: 'idle' };
      // The first task may have been removed in the meantime, or another one put in front of it.
      const first = this.#entries[0];
      if (first !== undefined) await this.#attempt(first, handleInPlace, signals);
    });
  }

  async #attempt(
    entry: MutableEntry<T>,
    handle: TaskHandler<T>,
    { stop, abort }: QueueSignals,
  ): Promise<void> {
    this.#running = entry;
    const sinceMs = this.#clock.steadyMs();
    entry.startedMs ??= sinceMs;
    this.#status = { type: 'running', sinceMs };
    const earlier = entry.earlierFailure;
    delete entry.earlierFailure;
    const outcome =
      earlier ??
      (await (async () => await handle(entry, this, abort))().catch(
        (error: unknown): TaskOutcome<T> => ({ type: 'retry', error }),
      ));
    this.#status = { type: 'idle' };
    entry.queuedAtMs = this.#clock.steadyMs();
    delete entry.ahead;
    delete entry.retryDelayMs;
    if (!this.#entries.includes(entry)) this.#onChange([entry.task], []);
    else if (!stop.aborted) await this.#settle(entry, outcome, stop);
    this.#running = undefined;
  }

  async #settle(entry: MutableEntry<T>, outcome: TaskOutcome<T>, signal: AbortSignal): Promise<void> {
    switch (outcome.type) {
      case 'success': {
        this.#replace(entry, outcome.after ?? []);
        this.#addLast(outcome.tail ?? [], entry.task);
        this.#tellIfEmpty();
        return;
      }
      case 'repeat':
        this.#addFirst(outcome.before ?? [], entry.task);
        entry.ahead = outcome.before?.length ?? 0;
        if (outcome.before !== undefined) entry.isFailing = false;
        if (outcome.when !== undefined) await this.#waitToRepeat(entry, outcome.when, signal);
        return;
      case 'retry': {
        const delayMs = outcome.delayMs ?? retryDelayMs(entry.failures, this.#random);
        entry.failures += 1;
        this.#noteFailing(entry);
        entry.retryDelayMs = delayMs;
        entry.lastError = messageOf(outcome.error);
        entry.lastCode = codeOf(outcome.error);
        entry.lastFacts = factsOf(outcome.error);
        this.#onFailure(entry, { error: outcome.error, delayMs });
        await this.#delay(delayMs, signal);
        return;
      }
    }
  }

  #noteFailing(entry: MutableEntry<T>): void {
    if (!entry.isFailing) entry.failingSinceMs = this.#clock.steadyMs();
    entry.isFailing = true;
  }

  #replace(entry: MutableEntry<T>, followers: readonly T[]): void {
    const position = this.#entries.indexOf(entry);
    if (followers.length > 0) {
      const entries = this.#entriesFor(followers, entry.task, { ahead: position });
      this.#measure('AddAfter', () => this.#entries.splice(position + 1, 0, ...entries));
      this.#reportAdded('after', entries);
    }
    this.#measure('RemoveFirst', () => this.#entries.splice(position, 1));
    this.#onChange([entry.task], []);
  }

  /** Until `when` settles, or the entry is no longer at the head, or the queue stops. */
  async #waitToRepeat(entry: MutableEntry<T>, when: Promise<unknown>, signal: AbortSignal): Promise<void> {
    this.#status = { type: 'repeating' };
    const settled = new AbortController();
    // Of this round alone: a listener for each task that comes while this one waits would add up.
    let endRound = (): void => undefined;
    const onSettled = (): void => {
      settled.abort();
      endRound();
    };
    when.then(onSettled, onSettled);
    while (!settled.signal.aborted && !signal.aborted && this.#entries[0] === entry) {
      const { promise, resolve } = Promise.withResolvers<void>();
      endRound = resolve;
      this.#endDelay = resolve;
      await Promise.race([promise, this.#untilWoken(signal)]);
      this.#endDelay = () => undefined;
    }
  }

  /** After an unexpected error: without a pause the worker would spin. */
  async #rest(error: unknown, signal: AbortSignal): Promise<void> {
    this.#onError(error);
    this.#running = undefined;
    await this.#delay(retryDelayMs(0, this.#random), signal);
  }

  async #delay(delayMs: number, signal: AbortSignal): Promise<void> {
    const retryAtMs = this.#clock.wallMs() + delayMs;
    this.#status = { type: 'delayed', sinceMs: this.#clock.steadyMs(), delayMs, retryAtMs };
    const cut = new AbortController();
    this.#endDelay = () => cut.abort();
    await this.#clock.sleep(delayMs, AbortSignal.any([signal, cut.signal])).catch(() => undefined);
    this.#endDelay = () => undefined;
    this.#status = { type: 'idle' };
  }

  #reportAdded(place: QueuePlace, entries: readonly QueueEntry<T>[]): void {
    this.#onChange([], entries.map(taskOf));
    this.#onAdd(place, entries);
  }

  #tellIfEmpty(): void {
    if (this.#entries.length === 0) for (const resolve of this.#emptied.splice(0)) resolve();
  }

  #untilWoken(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakeUp = resolve;
    if (signal.aborted) resolve();
    return promise;
  }

  #addFirst(tasks: readonly T[], follows: T | undefined, past: Past<T> = {}): void {
    if (tasks.length === 0) return;
    const ahead = this.#status.type === 'running' ? 1 : 0;
    const entries = this.#entriesFor(tasks, follows, { ...past, ahead });
    this.#measure('AddFirst', () => this.#entries.unshift(...entries));
    this.#reportAdded('head', entries);
    this.#wakeUp();
  }

  #addLast(tasks: readonly T[], follows: T | undefined, past: Past<T> = {}): void {
    if (tasks.length === 0) return;
    const entries = this.#entriesFor(tasks, follows, { ...past, ahead: this.#entries.length });
    this.#measure('AddLast', () => this.#entries.push(...entries));
    this.#reportAdded('append', entries);
    this.#wakeUp();
  }

  /** @param past with the number of tasks in front of the first of them */
  #entriesFor(
    tasks: readonly T[],
    follows: T | undefined,
    { ahead = 0, ...past }: Past<T>,
  ): MutableEntry<T>[] {
    const admitted = this.#admit(tasks, follows);
    const queuedAtMs = this.#clock.steadyMs();
    return admitted.map((task, index) => {
      this.#lastId = this.lane?.nextId() ?? this.#lastId + 1;
      return {
        id: this.#lastId,
        task,
        queuedAtMs,
        ahead: ahead + index,
        failures: 0,
        isFailing: false,
        lastError: '',
        ...past,
      };
    });
  }
}

function taskOf<T>({ task }: QueueEntry<T>): T {
  return task;
}
