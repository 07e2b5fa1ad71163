import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import { referenceTitle, type SecretReference } from '../values/secrets/secret-reference.ts';
import type { ValuesStore } from '../values/values-store.ts';

/**
 * Queues runs after changes of Secrets that values refer to: a module that refers to one runs
 * again, global values with one reload all modules. Failing tasks that need such values are retried
 * at once. The watch of `values/` calls it.
 */
export function onSecretsChange(
  operator: {
    readonly registry: ModuleRegistry;
    readonly router: TaskRouter;
    readonly log: Logger;
    readonly queues: QueueSet<Task>;
    readonly values: ValuesStore;
  },
  changed: readonly SecretReference[],
): void {
  const { values, queues, log } = operator;
  const titles = new Set(changed.map(referenceTitle));
  log.info({ secrets: [...titles] }, 'Secrets that values refer to have changed');
  const owners = new Set<string>();
  for (const [owner, references] of values.secretReferences()) {
    if (!references.some((reference) => titles.has(referenceTitle(reference)))) continue;
    owners.add(owner);
    // Before the first discovery a converge follows anyway, which sees the new values.
    if (owner !== GLOBAL_SECTION) operator.router.queueModuleRun(owner, 'Secret-Changed');
    else if (operator.registry.discovery !== undefined)
      operator.router.queueConverge('GlobalValuesChanged', 'Secret-Changed-GlobalValues');
  }
  // A failing task may be waiting for exactly this Secret.
  for (const queue of queues.all) {
    const head = queue.entries[0]?.task;
    // Global values are visible to all modules, so they concern every task.
    const isConcerned = owners.has(GLOBAL_SECTION) || (head !== undefined && owners.has(moduleOf(head)));
    if (queue === operator.router.main || isConcerned) queue.cutDelay();
  }
}
