import { performance } from 'node:perf_hooks';
import type { Task } from '../src/model/tasks.ts';
import type { World } from '../test/support/world.ts';

/** How long so many runs of a global hook take, one behind the other through a queue, in milliseconds. */
export async function hookRunsMs(
  world: World,
  name: string,
  count: number,
  {
    queue: queueName = 'bench',
    allowFailure = false,
  }: { readonly queue?: string; readonly allowFailure?: boolean } = {},
): Promise<number> {
  const { operator } = world.daemon;
  const hook = operator.globalHooks.runtimes.find((each) => each.hook.name === name);
  if (hook === undefined) throw new Error(`the hook ${name} is missing`);
  const task: Task = {
    type: 'GlobalHookRun',
    hook,
    binding: 'onStartup',
    reasons: [{ type: 'lifecycle', binding: 'onStartup' }],
    allowFailure,
    trigger: 'bench',
    activation: '',
  };
  const queue = operator.queues.get(queueName);
  const startMs = performance.now();
  queue.append(...Array.from({ length: count }, () => task));
  await queue.untilEmpty();
  return performance.now() - startMs;
}
