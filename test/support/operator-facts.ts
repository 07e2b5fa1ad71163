import type { ModuleSummary } from '../../src/status/module-explanation.ts';
import {
  type BusyQueue,
  isNoted,
  type NotedHook,
  type OperatorFacts,
} from '../../src/status/operator-facts.ts';
import type { HookSentence } from '../../src/status/problem.ts';
import { readySummary } from './module-explanations.ts';

export const SINCE = '2026-11-23T08:00:00Z';
export const WELL: OperatorFacts = {
  firstConverge: 'done',
  queues: [],
  configProblem: undefined,
  editConfigMap: 'kubectl -n op edit configmap values',
  unloadedFiles: [],
  runningHooks: [],
  counts: {},
  modules: [],
  drifted: [],
  pause: undefined,
  staleWatches: [],
  unfilteredObjects: [],
};

export function summary(module: string, fields: Partial<ModuleSummary> = {}): ModuleSummary {
  return readySummary(module, { reason: `${module}Enabled is true`, ...fields });
}

/** As the operator makes them: of modules that are well only the number is known. */
export function factsOf({ modules = [], ...facts }: Partial<OperatorFacts>): OperatorFacts {
  const statuses = Object.entries(Object.groupBy(modules, ({ status }) => status));
  const counts = Object.fromEntries(statuses.map(([status, all]) => [status, all.length]));
  return { ...WELL, ...facts, counts, modules: modules.filter(isNoted) };
}

export function busy(fields: Partial<BusyQueue> = {}): BusyQueue {
  const head = { head: 'ModuleRun web', module: 'web', failures: 0, lastError: '', retryInMs: undefined };
  const place = { hook: '', file: '', since: null, run: '', isFreedByPause: true };
  return { name: 'main', tasks: 1, ...head, ...place, ...fields };
}

export const FAILING = busy({
  tasks: 3,
  failures: 3,
  lastError: 'helm:\n\u001b[31mno such key',
  retryInMs: 22_100,
});

export const DRIFTED = {
  module: 'db',
  resource: '/ConfigMap/db',
  outlook: 'it is not corrected',
  since: SINCE,
  others: 0,
};

export function about(text: string): HookSentence {
  return { text, module: '', hook: 'a.sh', binding: 'pods', since: SINCE };
}

export function runningHook(runningMs: number): NotedHook {
  return {
    hook: 'hang.sh',
    binding: 'schedule',
    queue: 'main',
    task: 'GlobalHookRun',
    pid: 4711,
    runningMs,
    module: '',
    startedAt: SINCE,
    isDroppable: true,
    run: '7',
  };
}
