/** The fields by which tasks in one queue are equal to a reader. */
export interface ComparedTask {
  readonly type: string;
  readonly module: string;
  readonly hook: string;
  readonly binding: string;
  readonly trigger: string;
  readonly failures: number;
}

/** Equal tasks that wait in one queue, such as the ticks of a crontab. */
export interface EqualTasks<Task> {
  /** The first of them. */
  readonly task: Task;
  /** Place of the first one in the queue, from 1. */
  readonly place: number;
  readonly count: number;
}

/**
 * Joins equal tasks behind the first one of a queue, at the place of the first of each. A task that has failed is not
 * equal to others.
 */
export function equalTasks<Task extends ComparedTask>(tasks: readonly Task[]): readonly EqualTasks<Task>[] {
  const groups: { task: Task; place: number; count: number }[] = [];
  const waiting = new Map<string, { count: number }>();
  for (const [index, task] of tasks.entries()) {
    const { type, module, hook, binding, trigger, failures } = task;
    const canJoin = index > 0 && failures === 0;
    const key = JSON.stringify([type, module, hook, binding, trigger]);
    const known = canJoin ? waiting.get(key) : undefined;
    if (known !== undefined) {
      known.count += 1;
      continue;
    }
    const group = { task, place: index + 1, count: 1 };
    groups.push(group);
    if (canJoin) waiting.set(key, group);
  }
  return groups;
}
