import { oneLine } from '@addon-operator/strings/escape-controls';

/** A hook that runs now. */
export interface RunningHookFacts {
  /** `web/hooks/a.sh`, or the name of a global hook. */
  readonly hook: string;
  /** Empty for a global hook. */
  readonly module: string;
  readonly binding: string;
  /** Empty for a request to a webhook. */
  readonly queue: string;
  /** Type of the task that runs it, such as `ModuleRun`; empty for a request to a webhook. */
  readonly task: string;
  /** Null for a hook without a process of its own. */
  readonly pid: number | null;
  readonly runningMs: number;
  readonly startedAt: string;
  /** Whether its task can be dropped: no other task waits for it. */
  readonly isDroppable: boolean;
}

/** A hook that runs for less is not shown as a reason to wait. */
export const NOTED_HOOK_MS = 10_000;

/** Also what other lists say about a hook that runs. */
export function hookText(running: RunningHookFacts): string {
  const { hook, binding, runningMs } = running;
  const place = placeOfHook(running) || binding;
  return oneLine(`hook ${hook} runs for ${Math.floor(runningMs / 1_000)} s (${place})`);
}

/** Where a hook runs, such as `queue main, task GlobalHookRun, pid 4711`. */
export function placeOfHook({ queue, task, pid }: Pick<RunningHookFacts, 'pid' | 'queue' | 'task'>): string {
  const parts = [queue && `queue ${queue}`, task && `task ${task}`, pid !== null && `pid ${pid}`];
  return parts.filter(Boolean).join(', ');
}
