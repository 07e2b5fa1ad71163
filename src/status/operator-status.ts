/**
 * The state of the whole operator in one level and a list of sentences, for `addon-operator status`, `/status`, `/readyz`
 * and the page. It is pure: facts in, problems out. Problems are sorted: broken (needs a person), then waiting, then
 * notices. A module behind a failing queue is counted in the sentence about the queue, so that one failure makes one
 * sentence.
 */

import type { ApiOutage } from '@addon-operator/kube-client/api-health';
import { oneLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import { errorOfTask } from './error-of-task.ts';
import { type DeliveryState, failingTexts, invalidTexts, NOTHING_DELIVERED } from './module-delivery.ts';
import { type ModuleStatus, type ModuleSummary } from './module-explanation.ts';
import { type ModuleUpdate, updateText } from './module-update.ts';
import type { UnfinishedRuns } from './unfinished-text.ts';

/** Everything that can hold the operator up, as it is now. */
export interface OperatorFacts {
  /** The API server gives no response; default: it does. */
  readonly outage?: ApiOutage | undefined;
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
  readonly runningHooks: readonly RunningHookFacts[];
  /** How many modules have which status; those that none has are absent. */
  readonly counts: ModuleCounts;
  /** Modules about which there may be something to say: at least those for which `isNoted` is true. */
  readonly modules: readonly ModuleSummary[];
  /** Modules with objects that others changed. */
  readonly drifted: readonly DriftedModule[];
  /** A pause of all modules. */
  readonly pause: { readonly reason: string; readonly until: string | null } | undefined;
  /** Sentences about bindings that are not allowed, or have no current snapshot. */
  readonly staleWatches: readonly string[];
  /** Sentences about objects that are not in a snapshot as they are, since a jqFilter fails on them. */
  readonly unfilteredObjects: readonly string[];
  /** Deferred, debounced and failed hook runs, which are in no queue; default none. */
  readonly unfinished?: UnfinishedRuns;
  /** Versions of modules that do not run yet; default none. */
  readonly updates?: readonly { readonly module: string; readonly update: ModuleUpdate }[];
  /** Modules that come from sources; absent without a module store. */
  readonly delivery?: DeliveryState | undefined;
}

export type ModuleCounts = Readonly<Partial<Record<ModuleStatus, number>>>;

export interface BusyQueue {
  readonly name: string;
  readonly tasks: number;
  /** The first task, such as `ModuleRun web`. */
  readonly head: string;
  /** The module of the first task; empty if it has none. */
  readonly module: string;
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
  /** The planned reaction of the operator, in words. */
  readonly outlook: string;
  /** How many other objects were changed. */
  readonly others: number;
}

export interface RunningHookFacts {
  /** `web/hooks/a.sh`, or the name of a global hook. */
  readonly hook: string;
  readonly binding: string;
  /** Empty for a request to a webhook. */
  readonly queue: string;
  /** Type of the task that runs it, such as `ModuleRun`; empty for a request to a webhook. */
  readonly task: string;
  /** Null for a hook without a process of its own. */
  readonly pid: number | null;
  readonly runningMs: number;
}

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
  /** How many modules have which status; those that none has are absent. */
  readonly modules: ModuleCounts;
  readonly tasks: number;
}

/** Before the parts of the operator exist. */
export const STARTING_STATUS: OperatorStatus = {
  level: 'waiting',
  text: 'the operator is starting',
  problems: ['the operator is starting'],
  modules: {},
  tasks: 0,
};

/** While the start waits for a file that can be loaded. */
export function unloadedStatus(error: Error): OperatorStatus {
  const text = `the operator does not start, and nothing is changed in the cluster: ${oneLine(error.message)}; correct the file, it is read again within 10 s`;
  return { level: 'broken', text, problems: [text], modules: {}, tasks: 0 };
}

interface Problem {
  readonly level: Exclude<StatusLevel, 'well'>;
  readonly text: string;
}

/** A hook that runs for less is not shown as a reason to wait. */
export const NOTED_HOOK_MS = 10_000;
/** From here on a hook is likely to hang. */
const LONG_HOOK_MS = 10 * 60_000;
const MAX_ERROR_LENGTH = 300;

/** States that need a person: the operator does not continue by itself. */
const BROKEN_STATES: ReadonlySet<ModuleStatus> = new Set(['failing', 'isolated', 'unauthorized', 'held']);
const WAITING_STATES: ReadonlySet<ModuleStatus> = new Set(['undecided', 'starting', 'deleting']);

/** The state of the operator in one sentence, and why. */
export function operatorStatus(facts: OperatorFacts): OperatorStatus {
  const { counts, queues } = facts;
  const tasks = queues.reduce((sum, queue) => sum + queue.tasks, 0);
  const problems = [...brokenThings(facts), ...waitingThings(facts), ...notices(facts)];
  const [first] = problems;
  return {
    // Not the level of the first problem only: an outage may come first, and something broken after it.
    level: problems.some(({ level }) => level === 'broken') ? 'broken' : (first?.level ?? 'well'),
    text: first?.text ?? wellText(counts.ready ?? 0, tasks),
    problems: problems.map(({ text }) => text),
    modules: counts,
    tasks,
  };
}

/** Problems that need a person, the most general first: they often cause the others. */
function* brokenThings(facts: OperatorFacts): Generator<Problem> {
  const { outage, configProblem, editConfigMap, queues, modules, runningHooks, staleWatches } = facts;
  const broken = (sentence: string): Problem => ({ level: 'broken', text: oneLine(sentence) });
  if (outage !== undefined) yield broken(outageText(outage));
  for (const queue of queues) {
    if (queue.failures > 0 && queue.isNotYet !== true) yield broken(failingHead(queue));
  }
  if (configProblem !== undefined)
    yield broken(
      `the ConfigMap is refused, so older values stay in use: ${endOf(configProblem)}; correct it with \`${editConfigMap}\``,
    );
  for (const sentence of facts.unloadedFiles)
    yield broken(`${bothEnds(sentence)}; correct them, they are loaded when they are saved`);
  for (const hook of runningHooks.filter(({ runningMs }) => runningMs >= LONG_HOOK_MS))
    yield broken(
      `${hookText(hook)}; if it hangs, end it with \`addon-operator hook abort ${hook.hook}\`, and set --hook-timeout`,
    );
  for (const module of modules.filter(({ status }) => BROKEN_STATES.has(status))) {
    const isInQueue = queues.some((queue) => queue.failures > 0 && queue.module === module.module);
    if (!isInQueue) yield broken(moduleText(module));
  }
  for (const sentence of updateTexts(facts, 'fix')) yield broken(sentence);
  for (const sentence of invalidTexts(facts.delivery ?? NOTHING_DELIVERED)) yield broken(sentence);
  for (const sentence of staleWatches) yield broken(sentence);
  for (const sentence of facts.unfilteredObjects)
    yield broken(`${sentence}; correct the filter or the object`);
  for (const sentence of facts.unfinished?.failed ?? []) yield broken(sentence);
}

/** Conditions that end by themselves, or by the end of a pause. */
function* waitingThings(facts: OperatorFacts): Generator<Problem> {
  const { firstConverge, queues, modules, runningHooks, drifted, pause } = facts;
  const waiting = (sentence: string): Problem => ({ level: 'waiting', text: oneLine(sentence) });
  if (pause !== undefined)
    yield waiting(
      `all modules are paused ${endOfPause(pause.until)}: ${pause.reason}; \`addon-operator resume\` ends the pause`,
    );
  for (const queue of queues) if (queue.isNotYet === true) yield waiting(failingHead(queue));
  for (const sentence of facts.unfinished?.waiting ?? []) yield waiting(sentence);
  for (const hook of runningHooks) {
    if (hook.runningMs >= NOTED_HOOK_MS && hook.runningMs < LONG_HOOK_MS) yield waiting(hookText(hook));
  }
  if (firstConverge !== 'done') yield waiting(startText(facts));
  const behind = modulesBehind(facts);
  for (const [queue, waitingModules] of behind) yield waiting(behindText(queue, waitingModules));
  const isBehind = new Set([...behind.values()].flat());
  for (const module of modules) {
    if (isBehind.has(module)) continue;
    if (WAITING_STATES.has(module.status)) yield waiting(moduleText(module));
    else if (module.paused !== null && pause === undefined)
      yield waiting(`module ${module.module} is ${pausedText(module)}`);
  }
  for (const drift of drifted) yield waiting(driftText(drift));
}

function startText({ firstConverge, queues: [main], runningHooks }: OperatorFacts): string {
  if (main === undefined)
    return firstConverge === 'running' ? 'the first converge is in progress' : 'the operator starts';
  const { name, head, tasks, failures, isNotYet } = main;
  const hangs = runningHooks.some(({ queue, runningMs }) => queue === name && runningMs >= LONG_HOOK_MS);
  const isStuck = hangs || (failures > 0 && isNotYet !== true);
  const [what, progress] =
    firstConverge === 'running' ? ['the first converge', 'is in progress'] : ['the operator', 'starts'];
  const doing = isStuck ? `${what} is stuck at` : `${what} ${progress}:`;
  return `${doing} ${head}, ${counted(tasks, 'task')} in queue ${name}`;
}

/** Versions that wait for something, and modules that flags enable but whose requirements are not met: that may be intended. */
function* notices(facts: OperatorFacts): Generator<Problem> {
  const { delivery = NOTHING_DELIVERED } = facts;
  const notice = (sentence: string): Problem => ({ level: 'notice', text: oneLine(sentence) });
  for (const sentence of updateTexts(facts, 'decision')) yield notice(sentence);
  for (const sentence of failingTexts(delivery)) yield notice(sentence);
  for (const module of facts.modules.filter(lacksRequirement)) yield notice(moduleText(module));
}

/** Versions that need a person, with what to do. */
function updateTexts({ updates = [] }: OperatorFacts, needs: ModuleUpdate['needs']): readonly string[] {
  return updates
    .filter(({ update }) => update.needs === needs)
    .map(({ module, update }) => {
      const remedy = update.remedy === undefined ? '' : `; to update it: ${update.remedy}`;
      return `${updateText(module, update)}${remedy}`;
    });
}

/** The fields that decide whether a module is mentioned in the status. */
type NotedBy = Pick<ModuleSummary, 'status' | 'source'> & { readonly paused: unknown };

/** Whether there may be something to say about a module in the status: not about one that is ready, or disabled on purpose. */
export function isNoted(module: NotedBy): boolean {
  const { status, paused } = module;
  return (
    BROKEN_STATES.has(status) || WAITING_STATES.has(status) || lacksRequirement(module) || paused !== null
  );
}

function lacksRequirement({ status, source }: Pick<NotedBy, 'status' | 'source'>): boolean {
  return status === 'disabled' && source === 'requirement';
}

/** Modules that wait for nothing but the tasks in front of them in a queue, by queue. */
function modulesBehind({ queues, modules }: OperatorFacts): Map<BusyQueue, ModuleSummary[]> {
  const byRef = new Map(queues.map((queue) => [`queue/${queue.name}`, queue]));
  const behind = new Map<BusyQueue, ModuleSummary[]>();
  for (const module of modules) {
    const queue = byRef.get(module.heldUpRef ?? '');
    if (queue === undefined || !WAITING_STATES.has(module.status)) continue;
    const known = behind.get(queue);
    if (known === undefined) behind.set(queue, [module]);
    else known.push(module);
  }
  return behind;
}

const SHOWN_NAMES = 5;

function outageText({ error, durationMs }: ApiOutage): string {
  const seconds = Math.floor(durationMs / 1_000);
  return `the API server has not responded for ${seconds} s: ${endOf(error)}; snapshots and releases are as they were then, and everything continues when it responds`;
}

function behindText({ name, head }: BusyQueue, modules: readonly ModuleSummary[]): string {
  const names = modules.slice(0, SHOWN_NAMES).map(({ module }) => module);
  const more = modules.length - names.length;
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : listOfNames(names);
  const verb = modules.length === 1 ? 'waits' : 'wait';
  return `${modules.length === 1 ? 'module' : 'modules'} ${list} ${verb} for ${head} in queue ${name}`;
}

function listOfNames(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

function driftText({ module, resource, outlook, others }: DriftedModule): string {
  const what =
    others === 0
      ? `${resource} of module ${module} was`
      : `${resource} and ${counted(others, 'more object')} of module ${module} were`;
  return `${what} changed by others; ${outlook}; \`addon-operator explain module ${module}\` names the fields`;
}

function failingHead({ name, tasks, head, failures, lastError, retryInMs }: BusyQueue): string {
  const next =
    retryInMs === undefined
      ? `queue ${name} tries ${head} again`
      : `queue ${name} waits ${Math.max(0, Math.ceil(retryInMs / 1_000))} s to try ${head} again`;
  const behind = tasks <= 1 ? '' : `; ${counted(tasks - 1, 'task')} behind it`;
  return `${next} (failed attempts: ${failures})${behind}: ${endOf(errorOfTask(head, lastError))}`;
}

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

function moduleText({
  module,
  status,
  reason,
  waitsFor: [nearest],
  lastError,
  heldUpBy,
  nextTryAt,
}: ModuleSummary): string {
  const next = nextTryAt === null ? '' : ` (next try at ${nextTryAt})`;
  const waits = nearest === undefined ? reason : `it waits for ${nearest}`;
  // Its path and what to do about it are all that the user needs.
  if (status === 'held') return `module ${module} is ${status}${next}: ${heldUpBy ?? waits}`;
  return `module ${module} is ${status}${next}: ${endOf(lastError ?? heldUpBy ?? waits)}`;
}

function wellText(ready: number, tasks: number): string {
  return `all is well: ${counted(ready, 'module')} ready, ${tasks === 0 ? 'nothing to do' : `${counted(tasks, 'task')} in progress`}`;
}

function pausedText({ module, paused }: ModuleSummary): string {
  const { reason = '', until = null, handedOverTo, isTakenBack = false } = paused ?? {};
  if (isTakenBack) return reason;
  const command = `\`addon-operator module resume ${module}\``;
  if (handedOverTo !== undefined) return `${reason}; ${command} takes it back`;
  return `paused ${endOfPause(until)}: ${reason}; ${command} ends the pause`;
}

function endOfPause(until: string | null): string {
  return until === null ? 'until it is resumed' : `until ${until}`;
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Programs print the reason for their failure last. */
function endOf(sentence: string): string {
  const line = oneLine(headlineOf(sentence));
  return line.length <= MAX_ERROR_LENGTH ? line : `…${line.slice(1 - MAX_ERROR_LENGTH)}`;
}

/** Of what names hooks and files first, and the reason last. */
function bothEnds(sentence: string): string {
  const line = oneLine(headlineOf(sentence));
  const kept = MAX_ERROR_LENGTH / 2;
  return line.length <= MAX_ERROR_LENGTH ? line : `${line.slice(0, kept - 1)}…${line.slice(-kept)}`;
}

/** The status for people. */
export function statusText({ text, problems, modules, tasks }: OperatorStatus): string {
  const counts = Object.entries(modules).map(([status, count]) => `${count} ${status}`);
  const others = problems.slice(1).map((problem) => `- ${problem}`);
  const lines = [text, ...others, `modules: ${counts.join(', ') || 'none'}`, `tasks: ${tasks}`];
  return lines.map((line) => `${oneLine(line)}\n`).join('');
}
