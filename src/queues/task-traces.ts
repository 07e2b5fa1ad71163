import type { SteadyClock } from '@addon-operator/base/clock';
import type { SpanAttributes, SpanContext, Tracer } from '@addon-operator/base/trace';
import { NO_SPAN, NO_TRACER, type Span } from '@addon-operator/base/trace';
import { traceIdOf } from '@addon-operator/base/trace-id';
import type { QueueEntry } from '@addon-operator/task-queue';
import { tracedEvent } from '../hooks/binding-context.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalRun } from '../journal/run.ts';
import { hookOf, moduleOf, type Task, type TaskOrigin } from '../model/tasks.ts';
import { taskIdOf } from './task-queue-view.ts';

/** The origin of all tasks that one event leads to. */
export type EventOrigin = TaskOrigin & Required<Pick<TaskOrigin, 'eventId' | 'root'>>;

/** The description of an event in its span. */
export interface EventFacts {
  readonly type: string;
  readonly attributes?: SpanAttributes;
}

export interface TaskTracesOptions {
  readonly clock: SteadyClock;
  /** Returns a unique identifier for a new event. */
  readonly newEventId: () => string;
  /** Different after each start of the operator. */
  readonly bootId: string;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer;
}

/**
 * Traces of events: one trace per event, with a span for each attempt of a task that it caused.
 * Tasks may run hours after the event, or several times; a late attempt gets a trace of its own
 * with a link to the event, so that no trace stays open for ever.
 */
export class TaskTraces {
  readonly #options: Required<TaskTracesOptions>;
  /**
   * The last attempt of a task, by its entry and by the task itself, which may move to another
   * queue.
   */
  readonly #attempts = new WeakMap<object, SpanContext>();

  constructor(options: TaskTracesOptions) {
    this.#options = { tracer: NO_TRACER, ...options };
  }

  /**
   * The origin for the tasks of a new event.
   *
   * @param atMs when the event arrived, on the steady clock; default: now
   */
  newEvent(facts: () => EventFacts, atMs = this.#options.clock.steadyMs()): EventOrigin {
    const eventId = this.#options.newEventId();
    return { eventId, root: { atMs, span: this.#eventSpan(eventId, atMs, facts) } };
  }

  /**
   * Begins the span of a request. With the span of a client it belongs to the client's trace and
   * links to the event, which has its own trace as all events.
   */
  beginRequest({ eventId, root }: EventOrigin, type: string, client: SpanContext | undefined): Span {
    const { context } = root.span;
    if (context === undefined) return NO_SPAN;
    const start = {
      name: type,
      kind: 'server',
      startMs: root.atMs,
      attributes: { 'addon_operator.event.id': eventId },
    } as const;
    if (client === undefined) return root.span.child(start);
    const { traceId } = client;
    return this.#options.tracer.start({ ...start, traceId, parent: client, links: [context] });
  }

  /** Begins the spans of an attempt; the journal ends them with the run. */
  beginAttempt(
    journal: Pick<Journal, 'trace' | 'traceIdOf'>,
    run: JournalRun,
    entry: QueueEntry<Task>,
    queue: string,
  ): void {
    const { task } = entry;
    const event = task.root?.span.context;
    if (task.root === undefined || event === undefined) return;
    const before = this.#attempts.get(entry) ?? this.#attempts.get(identityOf(task));
    const traceId = journal.traceIdOf(run);
    // A run whose trace key differs from its event is not part of the event's trace any more.
    const isLate = run.traceKey !== run.eventId;
    const start = {
      name: `task ${task.type}`,
      kind: 'consumer',
      // The span begins with the wait in the queue, so that the trace shows the whole delay.
      startMs: Math.min(entry.queuedAtMs, run.startedMs),
      attributes: attemptAttributes(run, task, taskIdOf(queue, entry)),
      links: [...(isLate ? [event] : []), ...(before === undefined ? [] : [before])],
    } as const;
    const span = isLate ? this.#options.tracer.start({ ...start, traceId }) : task.root.span.child(start);
    const wait = span.child({
      name: 'queue wait',
      startMs: start.startMs,
      attributes: {
        'addon_operator.ahead': entry.ahead ?? 0,
        'addon_operator.retry': entry.failures > 0,
        'addon_operator.retry_delay_ms': entry.retryDelayMs,
      },
    });
    wait.end({ endMs: run.startedMs });
    journal.trace(run, span);
    if (span.context === undefined) return;
    this.#attempts.set(entry, span.context);
    this.#attempts.set(identityOf(task), span.context);
  }

  #eventSpan(eventId: string, atMs: number, facts: () => EventFacts): Span {
    const { tracer, bootId } = this.#options;
    if (tracer === NO_TRACER) return NO_SPAN;
    const { type, attributes } = facts();
    const span = tracer.start({
      name: `event ${type}`,
      kind: 'consumer',
      traceId: traceIdOf(bootId, eventId),
      startMs: atMs,
      attributes: { 'addon_operator.event.id': eventId, 'addon_operator.event.type': type, ...attributes },
    });
    // The event itself takes no time: its children carry the durations.
    span.end({ endMs: atMs });
    return span;
  }
}

/** The event of a task that no other task requested. */
export function eventFactsOf(task: Task): EventFacts {
  if (task.type === 'ConvergeModules') return { type: task.event };
  const [reason] = 'reasons' in task ? task.reasons : [];
  return (reason && tracedEvent(reason)) ?? { type: task.trigger };
}

function attemptAttributes(run: JournalRun, task: Task, taskId: string): SpanAttributes {
  return {
    'addon_operator.event.id': run.eventId,
    'addon_operator.module': moduleOf(task) || undefined,
    'addon_operator.hook': hookOf(task) || undefined,
    'addon_operator.queue': run.queue,
    'addon_operator.run.id': run.id,
    'addon_operator.task.id': taskId,
    'addon_operator.task.attempt': run.attempt,
    'addon_operator.task.trigger': run.trigger,
  };
}

/** An object that stays the same when the task moves to another queue. */
function identityOf(task: Task): object {
  return task.type === 'ModuleRun' ? (task.continues ?? task) : task;
}
