/* Names of tasks for people. The names of the operator stay in the API and in logs, and are shown as tooltips. */

/** As a title, followed by the module; in a sentence. */
const TASKS = {
  ModuleRun: ['Run module', 'the run of module'],
  ModuleDelete: ['Delete module', 'the deletion of module'],
  ModuleEnsureCRDs: ['Install CRDs of module', 'the CRDs of module'],
  ParallelModuleRun: ['Run modules', 'the run of modules'],
  ModuleHookRun: ['Run hook', 'hook'],
  GlobalHookRun: ['Run global hook', 'global hook'],
  GlobalHookEnableScheduleBindings: ['Begin schedules', 'the schedules of global hook'],
  GlobalHookEnableKubernetesBindings: ['Begin watches', 'the watches of global hook'],
  GlobalHookWaitKubernetesSynchronization: ['Wait for global hooks', 'the synchronization of global hooks'],
  ConvergeModules: ['Converge all modules', 'the converge of all modules'],
  ApplyKubeConfigValues: ['Apply the ConfigMap', 'the change of the ConfigMap'],
  ReloadFiles: ['Load changed files', 'the load of changed files'],
  RetryEnabledScripts: ['Retry enabled scripts', 'the retry of enabled scripts'],
  DiscoverHelmReleases: ['List helm releases', 'the list of helm releases'],
  ModulePurge: ['Delete release', 'the deletion of release'],
} as const;

type TaskType = keyof typeof TASKS;

function isTaskType(word: string): word is TaskType {
  return Object.hasOwn(TASKS, word);
}

/** Such as `Run module` for `ModuleRun`; another type is its own name. */
export function taskName(type: string): string {
  return isTaskType(type) ? TASKS[type][0] : type;
}

/** Such as `the run of module` for `ModuleRun`. */
export function taskPhrase(type: string): string {
  return isTaskType(type) ? TASKS[type][1] : type;
}

/** Finds types of tasks in a sentence; with a group, so that `split` keeps them. */
export const TASK_PATTERN = new RegExp(String.raw`\b(${Object.keys(TASKS).join('|')})\b`);
