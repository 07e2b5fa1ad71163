import type { LogFields } from '../lib/log.ts';
import type { QueueEntry, TaskOutcome } from '../queue/task-queue.ts';
import type { ModulePhase } from './module-state.ts';
import { hookOf, moduleOf, type Task } from './tasks.ts';

/** The phases of a module run in the words of the contract. */
const PHASES: Readonly<Record<ModulePhase, string>> = {
  startup: 'Startup',
  synchronization: 'QueueSynchronizationTasks',
  'wait-for-synchronization': 'WaitForSynchronization',
  schedules: 'EnableScheduleBindings',
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
export function startMessage(task: Task, phase: ModulePhase): string {
  return `${task.type} task${subjectOf(task, phase)}, trigger is ${task.trigger}`;
}

/** The log message about a task whose attempt is over. */
export function endMessage(task: Task, outcome: TaskOutcome<Task>['type']): string {
  return `${task.type} task done, result is '${RESULTS[outcome]}'`;
}

/** What all records about the flow of a task carry; `task.id` is unique in its queue. */
export function flowFields({ id, task }: QueueEntry<Task>, queue: string, flow: 'start' | 'end'): LogFields {
  const [module, hook] = [moduleOf(task), hookOf(task)];
  return {
    'task.id': id,
    'task.flow': flow,
    queue,
    binding: 'binding' in task ? task.binding : task.type,
    ...(module !== '' && { module }),
    ...(hook !== '' && { hook }),
    ...eventField(task),
  };
}

/** What started it, where that is the start of the operator. */
export function eventField(task: Task): LogFields {
  return 'activation' in task && task.activation !== '' ? { 'event.type': task.activation } : {};
}

function subjectOf(task: Task, phase: ModulePhase): string {
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
    case 'DiscoverHelmReleases':
      return '';
  }
}

function bindingOf({ binding, reasons: [reason] }: Extract<Task, { readonly reasons: unknown }>): string {
  if (reason === undefined || reason.type === 'lifecycle' || reason.type === 'deploy') return binding;
  const name = `'${binding}/${reason.binding.name}'`;
  return reason.type === 'synchronization' ? `Synchronization of ${name}` : name;
}
