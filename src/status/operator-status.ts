/**
 * The state of the whole operator in one level and a list of problems, for `addon-operator status`, `/status`, `/readyz`
 * and the page. `operator-problems.ts` makes the problems of facts.
 */

import { oneLine } from '@addon-operator/strings/escape-controls';
import type { ModuleCounts, OperatorFacts } from './operator-facts.ts';
import { counted, operatorProblems, problem } from './operator-problems.ts';
import type { Problem } from './problem.ts';

/**
 * `well`: nothing to do or about to be done. `notice`: all runs, and is perhaps not all that was meant to run. `waiting`: it goes
 * on without help. `broken`: needs a person.
 */
export type StatusLevel = 'well' | 'notice' | 'waiting' | 'broken';

export interface OperatorStatus {
  readonly level: StatusLevel;
  /** One sentence about the most important problem, or that there is none. */
  readonly text: string;
  /** One sentence for each problem, the most important first; the first is `text`. */
  readonly problems: readonly string[];
  /** The same problems with time, place, advice and actions. */
  readonly details: readonly Problem[];
  /** How many modules have which status; those that none has are absent. */
  readonly modules: ModuleCounts;
  readonly tasks: number;
}

/** Before the parts of the operator exist. */
export const STARTING_STATUS: OperatorStatus = {
  level: 'waiting',
  text: 'the operator is starting',
  problems: ['the operator is starting'],
  details: [problem('waiting', 'the operator is starting')],
  modules: {},
  tasks: 0,
};

/** While the start waits for a file that can be loaded. */
export function unloadedStatus(error: Error): OperatorStatus {
  const text = `the operator does not start, and nothing is changed in the cluster: ${oneLine(error.message)}`;
  const details = [problem('broken', text, { advice: ['correct the file, it is read again within 10 s'] })];
  return { level: 'broken', text, problems: [text], details, modules: {}, tasks: 0 };
}

/** The state of the operator in one sentence, and why. */
export function operatorStatus(facts: OperatorFacts): OperatorStatus {
  const { counts, queues } = facts;
  const tasks = queues.reduce((sum, queue) => sum + queue.tasks, 0);
  const details = operatorProblems(facts);
  const [first] = details;
  return {
    // Not the level of the first problem only: an outage may come first, and something broken after it.
    level: details.some(({ level }) => level === 'broken') ? 'broken' : (first?.level ?? 'well'),
    text: first?.text ?? wellText(counts.ready ?? 0, tasks),
    problems: details.map(({ text }) => text),
    details,
    modules: counts,
    tasks,
  };
}

function wellText(ready: number, tasks: number): string {
  return `all is well: ${counted(ready, 'module')} ready, ${tasks === 0 ? 'nothing to do' : `${counted(tasks, 'task')} in progress`}`;
}

/** The status for people. */
export function statusText({
  text,
  problems,
  details,
  modules,
  tasks,
}: Omit<OperatorStatus, 'details'> & Partial<Pick<OperatorStatus, 'details'>>): string {
  const counts = Object.entries(modules).map(([status, count]) => `${count} ${status}`);
  const lines = [
    ...(problems.length === 0 ? [text] : problems).flatMap((problem, index) => [
      `${index === 0 ? '' : '- '}${oneLine(problem)}`,
      // An operator of an earlier version has no details.
      ...(details?.[index]?.advice ?? []).map((sentence) => `  to fix: ${oneLine(sentence)}`),
    ]),
    `modules: ${counts.join(', ') || 'none'}`,
    `tasks: ${tasks}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}
