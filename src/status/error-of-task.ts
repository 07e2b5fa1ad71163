/** The error of a task without the name of the hook, where the task has it. */
export function errorOfTask(task: string, error: string): string {
  const own = /^(?:run hooks by binding \w+: )?(?:global|module) hook '([^']+)' failed: (?=\S)/u.exec(error);
  const hook = own?.[1];
  return own === null || hook === undefined || !task.endsWith(hook) ? error : error.slice(own[0].length);
}
