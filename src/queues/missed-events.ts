import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import { type RunReason, synchronizedBindings } from '../hooks/binding-context.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { Synchronization } from '../model/synchronization.ts';
import type { Task } from '../model/tasks.ts';
import type { HeldRuns } from './held-runs.ts';

type Queues = Pick<QueueSet<Task>, 'all'>;

/**
 * Keeps the events and Synchronizations of dropped tasks. A Synchronization is pending again; a
 * binding with dropped events is locked until it is synchronized, and the events wait in its
 * monitor. The module may be enabled again a moment later, and the API server does not send an
 * event twice.
 */
export function missRuns(
  dropped: readonly Task[],
  queues: Queues,
  synchronizationOf: (hook: HookRuntime) => Synchronization | undefined,
  held?: Pick<HeldRuns, 'takeEvents'>,
): void {
  for (const task of dropped) {
    if (task.type !== 'ModuleHookRun' || task.hook.isStopped) continue;
    const synchronization = synchronizationOf(task.hook);
    for (const binding of synchronizedBindings(task.reasons)) synchronization?.lose(binding);
    for (const binding of eventBindings(task.reasons)) {
      // Later events of the binding are moved too: otherwise they would reach the hook before the
      // older ones.
      const later = [
        ...(held?.takeEvents(task.hook, binding, 'older') ?? []),
        ...takeWaiting(queues, task.hook, binding),
        ...(held?.takeEvents(task.hook, binding, 'newer') ?? []),
      ];
      task.hook.lock(binding.index, [...eventsOf(task.reasons, binding), ...later]);
      synchronization?.miss(binding);
    }
  }
}

function eventBindings(reasons: readonly RunReason[]): ReadonlySet<KubernetesBinding> {
  return new Set(reasons.flatMap((reason) => (reason.type === 'event' ? [reason.binding] : [])));
}

function eventsOf(reasons: readonly RunReason[], binding: KubernetesBinding): readonly KubernetesEvent[] {
  return reasons.flatMap((reason) =>
    reason.type === 'event' && reason.binding === binding ? [reason.event] : [],
  );
}

function takeWaiting(
  queues: Queues,
  hook: HookRuntime,
  binding: KubernetesBinding,
): readonly KubernetesEvent[] {
  const taken: KubernetesEvent[] = [];
  for (const queue of queues.all)
    queue.rewrite((task) => {
      if (!('reasons' in task) || task.hook !== hook) return task;
      const events = eventsOf(task.reasons, binding);
      if (events.length === 0) return task;
      taken.push(...events);
      const reasons = task.reasons.filter((reason) => reason.type !== 'event' || reason.binding !== binding);
      return reasons.length === 0 ? undefined : { ...task, reasons };
    });
  return taken;
}
