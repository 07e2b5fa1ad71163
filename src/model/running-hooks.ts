import type { SteadyClock } from '@addon-operator/base/clock';
import type { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { isIndependent } from '../hook-config/binding-kinds.ts';
import type { Hook } from '../hooks/hook.ts';
import type { HookRunLabels } from '../metrics/operator-metrics.ts';
import type { RunningHookFacts } from '../status/running-hook.ts';
import type { Task } from './tasks.ts';

/** A hook that runs now. */
export interface RunningHook {
  readonly labels: HookRunLabels;
  readonly hook: Hook;
  readonly log: Logger;
  /** On the wall clock, to show it. */
  readonly startedAtMs: number;
  /** Ends the run; it fails with the error. */
  readonly abort: (error: OperatorError) => void;
}

/** A run in progress, with facts that became known after its start. */
export interface RunInProgress extends RunningHook {
  /** Of its process; undefined for hooks without one, and in the first milliseconds. */
  readonly pid: number | undefined;
}

/** For the part that runs the hook. */
export interface RunReport {
  readonly setPid: (pid: number) => void;
  /** The run is over. */
  readonly end: () => void;
}

interface Entry extends RunInProgress {
  readonly startedMs: number;
  pid: number | undefined;
  isWarned: boolean;
}

/** Hooks have no time limit unless one is set: one that runs this long is likely to hang. */
export const LONG_MS = 10 * 60_000;
const MINUTE_MS = 60_000;
const NONE: readonly string[] = [];

/** The hooks that run now, so that a hook that hangs is visible although nothing ends it. */
export class RunningHooks {
  readonly #clock: SteadyClock;
  readonly #entries = new Set<Entry>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** The longest running first. */
  get all(): readonly RunInProgress[] {
    return [...this.#entries];
  }

  /** The same, with how long each has been running, in milliseconds. */
  get withAges(): readonly (RunInProgress & { readonly runningMs: number })[] {
    return [...this.#entries].map((entry) => ({ ...entry, runningMs: this.#ageMs(entry) }));
  }

  /** Remembers a hook until its end is reported. */
  add(hook: RunningHook): RunReport {
    const entry: Entry = { ...hook, pid: undefined, startedMs: this.#clock.steadyMs(), isWarned: false };
    this.#entries.add(entry);
    return {
      setPid: (pid) => {
        entry.pid = pid;
      },
      end: () => {
        this.#entries.delete(entry);
      },
    };
  }

  /** Warns, once for each run, of hooks that have been running for more than ten minutes. */
  warnOfLong(): void {
    for (const entry of this.#long()) {
      if (entry.isWarned) continue;
      entry.isWarned = true;
      entry.log.warn(
        { runningMs: this.#ageMs(entry) },
        'hook has been running for more than ten minutes; set a time limit if it hangs (--hook-timeout)',
      );
    }
  }

  /**
   * The hooks of a module that have been running for more than ten minutes, each as a phrase for
   * "waits for …".
   */
  longOf(module: string): readonly string[] {
    // Called for each module, and mostly no hook runs.
    if (this.#entries.size === 0) return NONE;
    return this.#long()
      .filter(({ labels }) => labels.module === module)
      .map((entry) => {
        const { hook, binding } = entry.labels;
        const minutes = Math.floor(this.#ageMs(entry) / MINUTE_MS);
        return `the end of its hook ${hook} (${binding}), which has been running for ${minutes} minutes`;
      });
  }

  #long(): readonly Entry[] {
    return [...this.#entries].filter((entry) => this.#ageMs(entry) >= LONG_MS);
  }

  #ageMs({ startedMs }: Entry): number {
    return this.#clock.steadyMs() - startedMs;
  }
}

/** How a hook is called among those of all modules. */
export function hookTitle({ labels: { module = '', hook } }: Pick<RunningHook, 'labels'>): string {
  return module === '' ? hook : `${module}/${hook}`;
}

/** The task that runs the hook; undefined for a request to a webhook, which has no task. */
export function taskOfRun(queues: QueueSet<Task>, { labels }: Pick<RunningHook, 'labels'>): Task | undefined {
  const queue = queues.find(labels.queue);
  return queue?.entries.find((entry) => queue.isRunning(entry))?.task;
}

/**
 * The task of a run for an event or a schedule; undefined for others, such as Synchronizations,
 * which other tasks wait for.
 */
export function droppableTask(queues: QueueSet<Task>, run: Pick<RunningHook, 'labels'>): Task | undefined {
  const task = taskOfRun(queues, run);
  if (task?.type !== 'GlobalHookRun' && task?.type !== 'ModuleHookRun') return undefined;
  return isIndependent(task.reasons) && task.hook.hook.name === run.labels.hook ? task : undefined;
}

/** The running hooks for the status and the lists of queues, the longest running first. */
export function runningHookFacts(running: RunningHooks, queues: QueueSet<Task>): readonly RunningHookFacts[] {
  return running.withAges.map((run) => ({
    hook: hookTitle(run),
    binding: run.labels.binding,
    module: run.labels.module ?? '',
    queue: run.labels.queue,
    task: taskOfRun(queues, run)?.type ?? '',
    pid: run.pid ?? null,
    runningMs: run.runningMs,
    startedAt: isoTime(run.startedAtMs),
    isDroppable: droppableTask(queues, run) !== undefined,
  }));
}
