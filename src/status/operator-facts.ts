/** The facts from which the status of the operator is made. `views/` collects them. */

import type { ApiOutage } from '@addon-operator/kube-client/api-health';
import type { DeliveryState } from './module-delivery.ts';
import type { ModulePause, ModuleStatus, ModuleSummary } from './module-explanation.ts';
import type { ModuleUpdate } from './module-update.ts';
import type { HookSentence } from './problem.ts';
import type { RunningHookFacts } from './running-hook.ts';
import type { UnfinishedRuns } from './unfinished-text.ts';

/** Everything that can hold the operator up, as it is now. */
export interface OperatorFacts {
  /** The API server gives no response; default: it does. */
  readonly outage?: (ApiOutage & { readonly since: string }) | undefined;
  readonly firstConverge: 'not-started' | 'running' | 'done';
  /** Queues with tasks, `main` first. */
  readonly queues: readonly BusyQueue[];
  /** Why the ConfigMap is refused; undefined while it is accepted. */
  readonly configProblem: string | undefined;
  /** The command that edits the ConfigMap. */
  readonly editConfigMap: string;
  /** Sentences about changed files that could not be loaded; always empty without `--watch-files`. */
  readonly unloadedFiles: readonly string[];
  /** The longest running first. */
  readonly runningHooks: readonly NotedHook[];
  /** How many modules have which status; those that none has are absent. */
  readonly counts: ModuleCounts;
  /** Modules about which there may be something to say: at least those for which `isNoted` is true. */
  readonly modules: readonly ModuleSummary[];
  /** Modules with objects that others changed. */
  readonly drifted: readonly DriftedModule[];
  /** A pause of all modules. */
  readonly pause: Pick<ModulePause, 'reason' | 'since' | 'until'> | undefined;
  /** Bindings that are not allowed, or have no current snapshot. */
  readonly staleWatches: readonly HookSentence[];
  /** Objects that are not in a snapshot as they are, since a jqFilter fails on them. */
  readonly unfilteredObjects: readonly HookSentence[];
  /** Deferred, debounced and failed hook runs, which are in no queue; default none. */
  readonly unfinished?: UnfinishedRuns;
  /** Versions of modules that do not run yet; default none. */
  readonly updates?: readonly { readonly module: string; readonly update: ModuleUpdate }[];
  /** Modules that come from sources; absent without a module store. */
  readonly delivery?: DeliveryState | undefined;
}

/** With the id of the run; empty if the journal has none. */
export type NotedHook = RunningHookFacts & { readonly run: string };

export type ModuleCounts = Readonly<Partial<Record<ModuleStatus, number>>>;

export interface BusyQueue {
  readonly name: string;
  readonly tasks: number;
  /** The first task, such as `ModuleRun web`. */
  readonly head: string;
  /** The module of the first task; empty if it has none. */
  readonly module: string;
  /** The hook of the first task, with its module in front; empty if it is not the run of a hook. */
  readonly hook: string;
  /** Whether a pause of its module ends the first task, so that those behind it run. */
  readonly isFreedByPause: boolean;
  /** The executable or file that failed; empty if that is not known. */
  readonly file: string;
  /** When the first failure in a row ended; null while it does not fail. */
  readonly since: string | null;
  /** Id of the last run of the first task; empty if the journal has none. */
  readonly run: string;
  /** Failed attempts of the first task in a row; zero once it got beyond the failure. */
  readonly failures: number;
  readonly lastError: string;
  /** The hook requested the retry, which is no error. */
  readonly isNotYet?: true;
  /** Milliseconds until the first task is tried again; undefined while it runs. */
  readonly retryInMs: number | undefined;
}

export interface DriftedModule {
  readonly module: string;
  /** The first of its objects, such as `/ConfigMap/web`. */
  readonly resource: string;
  readonly since: string;
  /** The planned reaction of the operator, in words. */
  readonly outlook: string;
  /** How many other objects were changed. */
  readonly others: number;
}

/** States that need a person: the operator does not continue by itself. */
export const BROKEN_STATES: ReadonlySet<ModuleStatus> = new Set([
  'failing',
  'isolated',
  'unauthorized',
  'held',
]);
export const WAITING_STATES: ReadonlySet<ModuleStatus> = new Set(['undecided', 'starting', 'deleting']);

/** The fields that decide whether a module is mentioned in the status. */
type NotedBy = Pick<ModuleSummary, 'status' | 'source'> & { readonly paused: unknown };

/** Whether there may be something to say about a module in the status: not about one that is ready, or disabled on purpose. */
export function isNoted(module: NotedBy): boolean {
  const { status, paused } = module;
  return (
    BROKEN_STATES.has(status) || WAITING_STATES.has(status) || lacksRequirement(module) || paused !== null
  );
}

/** Whether flags enable it, and what it requires does not let it run. */
export function lacksRequirement({ status, source }: Pick<NotedBy, 'status' | 'source'>): boolean {
  return status === 'disabled' && source === 'requirement';
}
