import type { Logger } from '@addon-operator/base/log';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { heldPurgeText } from '../model/purge-guard.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import { goneDirectory } from '../modules/find-modules.ts';
import { entryOf, type GoneRefusal, type Module } from '../modules/module.ts';
import { directoryContent } from '../modules/modules-directory.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ModuleMemory } from '../reconcile/module-memory.ts';

export interface ConfirmFilesParts {
  readonly registry: Pick<ModuleRegistry, 'find'>;
  readonly converge: Pick<ConvergeState, 'purge'>;
  readonly memory: Pick<ModuleMemory, 'forget'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly log: Logger;
}

/**
 * Accepts the current files of a module as complete, on request of a user, and reads the module
 * again. Refused if its directory is gone: that would be a decision about the whole module, which
 * `confirm-purge` makes.
 *
 * @returns why nothing is confirmed and what to do instead; undefined on success
 */
export async function confirmFiles(operator: ConfirmFilesParts, name: string): Promise<string | undefined> {
  const { registry, converge, memory, router, log } = operator;
  const { purge } = converge;
  if (typeof purge !== 'string' && purge.releases.includes(name))
    return `no file of module ${name} can be confirmed, as it has no directory; ${heldPurgeText(purge)}`;
  const module = registry.find(name);
  if (module?.refusal?.type !== 'gone') return `no files of module ${name} are missing`;
  const { lost, reason, remedy } = await currentRefusal(module, module.refusal);
  if (lost !== 'files') return `no file of module ${name} can be confirmed: ${reason}; ${remedy}`;
  log.warn({ module: name, reason }, 'Missing files of the module are confirmed');
  // Without a record the next run writes one, from the files that exist now.
  memory.forget(name);
  router.main.prepend({ type: 'ReloadFiles', saved: [], modules: new Set([name]), trigger: FILES_CHANGED });
  router.main.cutDelay();
  return undefined;
}

/** Checks the directory again: it may have gone after a file was found missing. */
async function currentRefusal(module: Module, refusal: GoneRefusal): Promise<GoneRefusal> {
  if (refusal.lost !== 'files') return refusal;
  const entry = entryOf(module);
  const content = await directoryContent(entry);
  return content.type === 'module' ? refusal : goneDirectory(entry, content.problem);
}
