// What the API answers, put together from the types of the operator itself.
import type { LastRunView, RunDetails, RunList, RunView } from '../../src/journal/run-view.ts';
import type { ModuleExplanation, ModuleStatus, ModuleSummary } from '../../src/status/module-explanation.ts';
import type { NextItem } from '../../src/status/next-items.ts';
import type { OperatorStatus, RunningHookFacts } from '../../src/status/operator-status.ts';
import type { TaskQueueView, TaskView } from '../../src/status/task-queues.ts';

export type { WhyNode } from '../../src/status/cause.ts';
export type { ModuleExplanation, ModuleStatus, NextItem, RunDetails, RunList, RunView, TaskView };

export type QueueAnswer = TaskQueueView & { readonly more: number };

export type ModuleAnswer = ModuleSummary & { readonly lastRun: LastRunView | null; readonly recent: string };

export interface NowAnswer {
  readonly version: string;
  readonly bootId: string;
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly headline: Pick<OperatorStatus, 'level' | 'text' | 'problems'>;
  readonly counts: Pick<OperatorStatus, 'modules' | 'tasks'>;
  readonly runningHooks: readonly RunningHookFacts[];
}

export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string };
}
