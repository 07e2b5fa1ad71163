import { messageOf } from '../../lib/errors.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import { unknownModuleKeys } from '../../values/config-map-content.ts';
import type { Operator } from '../operator.ts';
import type { Task } from '../tasks.ts';

/** Takes over what the ConfigMap says now. */
export function handleApplyConfig(operator: Operator): TaskOutcome<Task> {
  const { values, configMapContent, metrics, log } = operator.deps;
  try {
    values.setConfig(configMapContent());
    warnAboutUnknownModules(operator);
    return { type: 'success' };
  } catch (error) {
    metrics.modulesDiscoverError();
    log.error(
      { error: messageOf(error) },
      'ApplyKubeConfigValues failed, the old values stay in force. Requeue task to retry after delay.',
    );
    return { type: 'retry', error };
  }
}

/** Sections and flags of modules that do not exist are mostly typing errors; they have no effect. */
export function warnAboutUnknownModules({ deps, modules }: Operator): void {
  const known = new Set(modules.map((module) => module.key));
  const unknown = unknownModuleKeys(deps.configMapContent(), known);
  if (unknown.length > 0)
    deps.log.warn({ keys: unknown }, 'KubeConfigManager has values for unknown modules');
}
