import type { Logger } from '@addon-operator/base/log';
import type { ModuleMemory } from './module-memory.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { TaskRouter } from './task-router.ts';
import { FILES_CHANGED } from './tasks.ts';

export interface ConfirmFilesParts {
  readonly registry: Pick<ModuleRegistry, 'find'>;
  readonly memory: Pick<ModuleMemory, 'filesOf' | 'forget'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly log: Logger;
}

/** Takes the files that a module has now for all that it is meant to have. Returns whether it was held for missing ones. */
export function confirmFiles({ registry, memory, router, log }: ConfirmFilesParts, name: string): boolean {
  const module = registry.find(name);
  if (module?.refusal?.type !== 'gone' || module.entries === undefined) return false;
  log.warn({ module: name, reason: module.refusal.reason }, 'Missing files of the module are confirmed');
  memory.forget(name);
  router.main.prepend({ type: 'ReloadFiles', saved: [], modules: new Set([name]), trigger: FILES_CHANGED });
  router.main.cutDelay();
  return true;
}
