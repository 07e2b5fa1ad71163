// Messages and field names are those of the Go operator, which log queries of users rely on.

import type { LogFields, Logger } from '@addon-operator/base/log';
import type { QueueEntry, QueuePlace, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { bindingNameOf } from '../hooks/binding-context.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleStageName } from '../model/module-state.ts';
import { originFields } from '../model/task-origin.ts';
import {
  type HookRun,
  type HookTask,
  hookOf,
  isSynchronization,
  moduleOf,
  type Task,
} from '../model/tasks.ts';

/** The phases of a module run in the words of the contract. */
const PHASES: Readonly<Record<ModuleStageName, string>> = {
  startup: 'Startup',
  synchronization: 'QueueSynchronizationTasks',
  'wait-for-synchronization': 'WaitForSynchronization',
  helm: 'CanRunHelm',
  ready: 'Ready',
};

const RESULTS: Readonly<Record<TaskOutcome<Task>['type'], string>> = {
  success: 'Success',
  retry: 'Fail',
  repeat: 'Repeat',
};

/**
 * The log message about a task whose attempt begins.
 *
 * @param phase of the module, for a module run
 */
export function startMessage(task: Task, phase: ModuleStageName): string {
  return `${task.type} task${subjectOf(task, phase)}, trigger is ${task.trigger}`;
}

/**
 * The log message about a task that is put into a queue.
 *
 * @param phase of the module, for a module run
 */
export function addMessage(place: QueuePlace, task: Task, phase: ModuleStageName): string {
  return `${place} task ${task.type}${subjectOf(task, phase)}, trigger is ${task.trigger}`;
}

/**
 * Logs which tasks were queued, and where. Further events of the same binding right behind are not
 * logged: they share the run of the first one, and a record for each would cost as much as the
 * event.
 */
export function logAdded(
  { log, registry }: { readonly log: Logger; readonly registry: Pick<ModuleRegistry, 'tracked'> },
  queue: TaskQueue<Task>,
  place: QueuePlace,
  entries: readonly QueueEntry<Task>[],
): void {
  for (const entry of entries) {
    if (entries.length === 1 && isFurtherEvent(queue, entry)) continue;
    const message = addMessage(place, entry.task, stageOfTask(registry, entry.task));
    log.info(flowFields(entry, queue.name, 'add'), message);
  }
}

/**
 * Whether a task is the last one of its queue, behind a task for an event of the same binding that
 * is not running.
 */
function isFurtherEvent(queue: TaskQueue<Task>, entry: QueueEntry<Task>): boolean {
  const [previous, last] = queue.entries.slice(-2);
  if (previous === undefined || last?.id !== entry.id || queue.isAtWork(previous)) return false;
  const [before, after] = [eventRun(previous.task), eventRun(entry.task)];
  if (before === undefined || after === undefined || after.task.hook !== before.task.hook) return false;
  // A v0 hook gets one event per run, so each event is a run of its own.
  return after.binding === before.binding && after.task.hook.hook.config.version !== 'v0';
}

function eventRun(task: Task): { readonly task: HookTask; readonly binding: object } | undefined {
  if (task.type !== 'ModuleHookRun' && task.type !== 'GlobalHookRun') return undefined;
  const reason = task.reasons.at(-1);
  return reason?.type === 'event' ? { task, binding: reason.binding } : undefined;
}

/**
 * The phase of the module of a run; `startup` for all other tasks, whose messages do not show it.
 */
export function stageOfTask({ tracked }: Pick<ModuleRegistry, 'tracked'>, task: Task): ModuleStageName {
  return (task.type === 'ModuleRun' && tracked.get(task.module)?.phase) || 'startup';
}

/** The log message about a task whose attempt is over. */
export function endMessage(task: Task, outcome: TaskOutcome<Task>['type']): string {
  return `${task.type} task done, result is '${RESULTS[outcome]}'`;
}

/** The fields of all records about the flow of a task; `task.id` is unique in its queue. */
export function flowFields(
  { id, task }: QueueEntry<Task>,
  queue: string,
  flow: 'start' | 'end' | 'add',
): LogFields {
  const flowOf = { 'task.id': id, 'task.flow': flow, queue };
  if ('reasons' in task) return { ...flowOf, ...hookFields(task), ...eventFields(task) };
  const [module, hook] = [moduleOf(task), hookOf(task)];
  return {
    ...flowOf,
    binding: task.type,
    ...(module !== '' && { module }),
    ...(hook !== '' && { hook }),
    ...eventFields(task),
  };
}

/** The fields of all records about a hook run. */
export function hookFields(task: HookTask): LogFields {
  const { hook } = task.hook;
  const module = moduleNameOf(hook);
  return {
    'hook.type': hook.owner.type,
    ...(module !== '' && { module }),
    hook: hook.name,
    binding: isSynchronization(task) ? 'kubernetesSynchronization' : task.binding,
    'binding.name': bindingName(task),
    ...watchEventField(task),
  };
}

/** The name of the binding that a hook runs for; the first one if there are several. */
export function bindingName({ binding, reasons: [reason] }: HookRun): string {
  return reason === undefined ? binding : bindingNameOf(reason);
}

/** The fields that name the cause of a task. */
export function eventFields(task: Task): LogFields {
  return { ...eventType(task), ...originFields(task) };
}

function eventType(task: Task): LogFields {
  if ('activation' in task && task.activation !== '') return { 'event.type': task.activation };
  return 'event' in task && task.event !== undefined ? { 'event.type': task.event } : {};
}

/** The type of the first event of the run. */
function watchEventField({ reasons: [reason] }: HookRun): LogFields {
  return reason?.type === 'event' ? { watchEvent: reason.event.watchEvent } : {};
}

function subjectOf(task: Task, phase: ModuleStageName): string {
  switch (task.type) {
    case 'GlobalHookRun':
    case 'ModuleHookRun':
      return ` for ${bindingOf(task)} binding`;
    case 'ModuleRun':
      return ` for module '${task.module}', phase '${PHASES[phase]}'${task.doModuleStartup ? ' with doModuleStartup' : ''}`;
    case 'ModuleEnsureCRDs':
    case 'ModuleDelete':
      return ` for module '${task.module}'`;
    case 'ModulePurge':
      return ` for release '${task.release}'`;
    case 'ParallelModuleRun':
      return ` for modules '${task.runs.title}'`;
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
      return ` for hook '${task.hook.hook.name}'`;
    case 'ConvergeModules':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'RetryEnabledScripts':
    case 'DiscoverHelmReleases':
      return '';
  }
}

function bindingOf({ binding, reasons: [reason] }: Extract<Task, { readonly reasons: unknown }>): string {
  if (reason === undefined || typeof reason.binding === 'string') return binding;
  const name = `'${binding}/${reason.binding.name}'`;
  return reason.type === 'synchronization' ? `Synchronization of ${name}` : name;
}
