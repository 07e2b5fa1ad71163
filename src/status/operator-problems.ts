/**
 * The problems of the operator, made of facts: what is wrong, since when, where, and what to do. It is pure. A module
 * behind a failing queue is counted in the problem of the queue, so that one failure makes one problem.
 */

import { oneLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import type { ActionName } from './action-names.ts';
import { errorOfTask } from './error-of-task.ts';
import { retryRemedy } from './module-causes.ts';
import { failingTexts, invalidTexts, NOTHING_DELIVERED } from './module-delivery.ts';
import type { ModuleSummary } from './module-explanation.ts';
import { type ModuleUpdate, updateText } from './module-update.ts';
import {
  BROKEN_STATES,
  type BusyQueue,
  type DriftedModule,
  lacksRequirement,
  type NotedHook,
  type OperatorFacts,
  WAITING_STATES,
} from './operator-facts.ts';
import type { Problem } from './problem.ts';
import { hookText, NOTED_HOOK_MS } from './running-hook.ts';

/** From here on a hook is likely to hang. */
const LONG_HOOK_MS = 10 * 60_000;
const MAX_ERROR_LENGTH = 300;

/** The most important first: what needs a person, then what ends by itself, then notices. */
export function operatorProblems(facts: OperatorFacts): readonly Problem[] {
  return [...brokenThings(facts), ...waitingThings(facts), ...notices(facts)];
}

const NOTHING: Omit<Problem, 'level' | 'text'> = {
  since: null,
  module: '',
  hook: '',
  binding: '',
  queue: '',
  run: '',
  advice: [],
  actions: [],
};

/** A problem of a level and a sentence, with what else is known. */
export function problem(level: Problem['level'], text: string, more: Partial<Problem> = {}): Problem {
  return { level, text: oneLine(text), ...NOTHING, ...more };
}

/** Problems that need a person, the most general first: they often cause the others. */
function* brokenThings(facts: OperatorFacts): Generator<Problem> {
  const { outage, configProblem, editConfigMap, queues, modules, runningHooks, staleWatches } = facts;
  if (outage !== undefined) yield problem('broken', outageText(outage), { since: outage.since });
  for (const queue of queues) {
    if (queue.failures > 0 && queue.isNotYet !== true) yield failingHead('broken', queue);
  }
  if (configProblem !== undefined)
    yield problem(
      'broken',
      `the ConfigMap is refused, so older values stay in use: ${endOf(configProblem)}`,
      { advice: [`correct it with \`${editConfigMap}\``] },
    );
  for (const sentence of facts.unloadedFiles)
    yield problem('broken', bothEnds(sentence), {
      advice: ['correct them, they are loaded when they are saved'],
    });
  for (const hook of runningHooks.filter(({ runningMs }) => runningMs >= LONG_HOOK_MS))
    yield runningHook('broken', hook);
  for (const module of modules.filter(({ status }) => BROKEN_STATES.has(status))) {
    const isInQueue = queues.some((queue) => queue.failures > 0 && queue.module === module.module);
    if (!isInQueue) yield ofModule('broken', module);
  }
  yield* updateProblems(facts, 'fix', 'broken');
  for (const sentence of invalidTexts(facts.delivery ?? NOTHING_DELIVERED)) yield problem('broken', sentence);
  for (const { text, ...place } of staleWatches) yield problem('broken', text, place);
  for (const { text, ...place } of facts.unfilteredObjects)
    yield problem('broken', text, { ...place, advice: ['correct the filter or the object'] });
  for (const { text, remedy, isTriggerable, ...place } of facts.unfinished?.failed ?? [])
    yield problem('broken', text, {
      ...place,
      advice: [remedy],
      actions: isTriggerable ? ['trigger-hook'] : [],
    });
}

/** Conditions that end by themselves, or by the end of a pause. */
function* waitingThings(facts: OperatorFacts): Generator<Problem> {
  const { firstConverge, queues, modules, runningHooks, drifted, pause } = facts;
  if (pause !== undefined)
    yield problem('waiting', `all modules are paused ${endOfPause(pause.until)}: ${pause.reason}`, {
      since: pause.since,
      advice: ['`addon-operator resume` ends the pause'],
      actions: ['resume-all'],
    });
  for (const queue of queues) if (queue.isNotYet === true) yield failingHead('waiting', queue);
  for (const sentence of facts.unfinished?.waiting ?? []) yield problem('waiting', sentence);
  for (const hook of runningHooks) {
    if (hook.runningMs >= NOTED_HOOK_MS && hook.runningMs < LONG_HOOK_MS) yield runningHook('waiting', hook);
  }
  if (firstConverge !== 'done') yield problem('waiting', startText(facts), { queue: queues[0]?.name ?? '' });
  const behind = modulesBehind(facts);
  for (const [queue, waitingModules] of behind)
    yield problem('waiting', behindText(queue, waitingModules), {
      queue: queue.name,
      since: earliest(waitingModules),
      module: waitingModules.length === 1 ? (waitingModules[0]?.module ?? '') : '',
    });
  const isBehind = new Set([...behind.values()].flat());
  for (const module of modules) {
    if (isBehind.has(module)) continue;
    if (WAITING_STATES.has(module.status)) yield ofModule('waiting', module);
    else if (module.paused !== null && pause === undefined) yield pausedModule(module);
  }
  for (const drift of drifted)
    yield problem('waiting', driftText(drift), {
      since: drift.since,
      module: drift.module,
      advice: [`\`addon-operator explain module ${drift.module}\` names the fields`],
      actions: ['heal-drift'],
    });
}

function earliest(modules: readonly ModuleSummary[]): string | null {
  return modules.map(({ since }) => since).toSorted()[0] ?? null;
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
  yield* updateProblems(facts, 'decision', 'notice');
  for (const sentence of failingTexts(facts.delivery ?? NOTHING_DELIVERED)) yield problem('notice', sentence);
  for (const module of facts.modules.filter(lacksRequirement)) yield ofModule('notice', module);
}

/** Versions that need a person, with what to do. */
function updateProblems(
  { updates = [] }: OperatorFacts,
  needs: ModuleUpdate['needs'],
  level: Problem['level'],
): readonly Problem[] {
  return updates
    .filter(({ update }) => update.needs === needs)
    .map(({ module, update }) =>
      problem(level, updateText(module, update), {
        since: update.since,
        module,
        advice: update.remedy === undefined ? [] : [update.remedy],
      }),
    );
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

function outageText({ error, durationMs }: NonNullable<OperatorFacts['outage']>): string {
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
  return `${what} changed by others; ${outlook}`;
}

/** The first task of a queue that fails, or whose hook requested another attempt. */
function failingHead(level: Problem['level'], queue: BusyQueue): Problem {
  const { name, tasks, head, failures, lastError, retryInMs, module, hook, since, run } = queue;
  const next =
    retryInMs === undefined
      ? `queue ${name} tries ${head} again`
      : `queue ${name} waits ${Math.max(0, Math.ceil(retryInMs / 1_000))} s to try ${head} again`;
  const behind = tasks <= 1 ? '' : `; ${counted(tasks - 1, 'task')} behind it`;
  const error = endOf(errorOfTask(head, lastError));
  const actions: ActionName[] = retryInMs === undefined ? [] : ['retry'];
  if (queue.isFreedByPause) actions.push('pause');
  return problem(level, `${next} (failed attempts: ${failures})${behind}: ${error}`, {
    since,
    module,
    hook,
    queue: name,
    run,
    advice: [...adviceForHead(level, queue)],
    actions,
  });
}

function* adviceForHead(
  level: Problem['level'],
  { name, tasks, module, file, retryInMs, isFreedByPause }: BusyQueue,
): Generator<string> {
  // A hook that requested another attempt has nothing to fix.
  if (level === 'broken') yield retryRemedy(file);
  if (retryInMs !== undefined) yield `\`addon-operator queue retry ${name}\` tries it again now`;
  if (!isFreedByPause || tasks <= 1) return;
  const freed = tasks === 2 ? 'task' : counted(tasks - 1, 'task');
  yield `\`addon-operator module pause ${module} --reason WHY\` pauses the module and frees the ${freed} behind it`;
  // A module that is isolated already is in a queue of its own.
  if (name === 'main') yield '`--module-failure-policy isolate` lets other modules run while one fails';
}

function runningHook(level: Problem['level'], running: NotedHook): Problem {
  const { hook, module, binding, queue, startedAt, isDroppable, run } = running;
  const abort = `if it hangs, end it with \`addon-operator hook abort ${hook}\`, and set --hook-timeout`;
  return problem(level, hookText(running), {
    since: startedAt,
    module,
    hook,
    binding,
    queue,
    run,
    advice: level === 'broken' ? [abort] : [],
    actions: isDroppable ? ['abort-hook', 'drop-hook'] : ['abort-hook'],
  });
}

function ofModule(level: Problem['level'], module: ModuleSummary): Problem {
  const { status, remedy, since } = module;
  return problem(level, moduleText(module), {
    since,
    module: module.module,
    advice: remedy === undefined ? [] : [remedy],
    actions: status === 'failing' ? ['reconcile'] : [],
  });
}

function pausedModule({ module, status, since, paused }: ModuleSummary): Problem {
  const { reason = '', until = null, handedOverTo, isTakenBack = false } = paused ?? {};
  const what = handedOverTo === undefined ? `paused ${endOfPause(until)}: ${reason}` : reason;
  const effect = handedOverTo === undefined ? 'ends the pause' : 'takes it back';
  return problem('waiting', `module ${module} is ${what}`, {
    // Another state began at another time.
    since: status === 'paused' ? since : null,
    module,
    ...(!isTakenBack && {
      advice: [`\`addon-operator module resume ${module}\` ${effect}`],
      actions: ['resume'],
    }),
  });
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
  // Its path is all that the user needs.
  if (status === 'held') return `module ${module} is ${status}${next}: ${heldUpBy ?? waits}`;
  return `module ${module} is ${status}${next}: ${endOf(lastError ?? heldUpBy ?? waits)}`;
}

/** Such as `1 task` or `2 tasks`. */
export function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function endOfPause(until: string | null): string {
  return until === null ? 'until it is resumed' : `until ${until}`;
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
