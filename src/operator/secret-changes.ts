import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import { referenceTitle, type SecretReference } from '../values/secrets/secret-reference.ts';
import type { ValuesStore } from '../values/values-store.ts';

/**
 * Turns changed texts of Secrets into tasks, as any change of values: a module that refers to one runs again, global
 * values that do reload all modules. What waits after a failure and needs such values is tried again at once.
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
    if (owner !== GLOBAL_SECTION) operator.router.queueModuleRun(owner, 'Secret-Changed');
    else if (operator.registry.discovery !== undefined)
      operator.router.queueConverge('GlobalValuesChanged', 'Secret-Changed-GlobalValues');
  }
  // What waits after a failure may have waited for just this Secret.
  for (const queue of queues.all) {
    const head = queue.entries[0]?.task;
    const isConcerned = owners.has(GLOBAL_SECTION) || (head !== undefined && owners.has(moduleOf(head)));
    if (queue === operator.router.main || isConcerned) queue.cutDelay();
  }
}
