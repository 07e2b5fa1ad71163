import { codeOf } from '@addon-operator/base/errors';
import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { act, anyOptions, anySteps, HOOKS, MODULES } from '../../test/support/operator-histories.ts';
import { moduleFor, operatorLab } from '../../test/support/operator-lab.ts';
import type { RunView } from '../journal/run-view.ts';
import type { Task } from '../model/tasks.ts';
import { startUp } from '../operator/lifecycle.ts';
import { taskIdOf } from '../queues/task-queue-view.ts';

/** One attempt as the queue sees it. */
interface Seen {
  readonly taskId: string;
  readonly type: Task['type'];
  readonly eventId: string | undefined;
  result: RunView['result'];
  isMoved: boolean;
}

test('in any history the journal has each attempt once, with its result, hooks and cause', async () => {
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const modules = MODULES.map((module) => moduleFor(module, 1));
      await using lab = await operatorLab(modules, HOOKS, options);
      const handle = lab.handler();
      const seen: Seen[] = [];
      const follow: typeof handle = async (entry, queue, signal) => {
        const { type, eventId } = entry.task;
        const runs = lab.journal.revision;
        const one: Seen = {
          taskId: taskIdOf(queue.name, entry),
          type,
          eventId,
          result: 'running',
          isMoved: false,
        };
        seen.push(one);
        const handled = handle(entry, queue, signal);
        // A task that is moved to another queue has no attempt.
        one.isMoved = lab.journal.revision === runs;
        try {
          const outcome = await handled;
          one.result = outcome.type === 'retry' ? resultOfFailure(outcome.error) : outcome.type;
          return outcome;
        } catch (error) {
          one.result = 'aborted';
          throw error;
        }
      };
      startUp(lab.operator, follow, { stop: lab.stop.signal, abort: lab.abort.signal });
      for (const [what, turns] of steps) {
        await act(lab, what);
        await lab.turns(turns);
      }
      await lab.pass(300_000, 2);
      const runs = lab.journal.list({ limit: 10_000 }).runs.toReversed();
      const attempts = runs.filter(({ parent, taskId }) => parent === null && taskId !== '');
      const tried = seen.filter(({ isMoved }) => !isMoved);
      expect(attempts.map(({ taskId, type }) => [taskId, type])).toEqual(
        tried.map(({ taskId, type }) => [taskId, type]),
      );
      // For the queue a failed task is over when it is isolated: it goes on in a queue of its own.
      const mayIsolate = options.failurePolicy === 'isolate';
      const resultsOf = (result: RunView['result'] | undefined, index: number) =>
        mayIsolate && result === 'success' ? (failureOf(attempts[index]) ?? result) : result;
      expect(attempts.map(({ result }) => result)).toEqual(
        tried.map(({ result }, index) => resultsOf(result, index)),
      );
      expect(hookRunsIn(runs)).toEqual(lab.calls.filter((call) => call.includes('.sh ')).length);
      const wrong = runs.filter((run) => !isCause(run, lab.journal.details(Number(run.id))?.cause ?? []));
      expect(wrong).toEqual([]);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 30_000 },
  );
}, 120_000);

function failureOf(attempt: RunView | undefined): RunView['result'] | undefined {
  return attempt?.result === 'failed' || attempt?.result === 'aborted' ? attempt.result : undefined;
}

/** A request of a user to abort the run can be what fails it. */
function resultOfFailure(error: unknown): RunView['result'] {
  return codeOf(error) === 'RUN_ABORTED' ? 'aborted' : 'failed';
}

/** Runs in which a hook was started. */
function hookRunsIn(runs: readonly RunView[]): number {
  return runs.filter(({ hook, contexts, code }) => contexts > 0 || (hook !== '' && code === 'HOOK_FAILED'))
    .length;
}

function isCause(run: RunView, cause: readonly RunView[]): boolean {
  const direct = cause.at(-1);
  if (cause.some(({ id }) => Number(id) >= Number(run.id))) return false;
  if (run.parent !== null) return direct?.id === run.parent;
  // A task that was moved after a failure has another id.
  if (run.attempt > 1) return direct !== undefined;
  if (run.triggeredBy === null || direct?.taskId === run.taskId) return true;
  return direct?.hook === run.triggeredBy.hook && direct.binding === run.triggeredBy.binding;
}
