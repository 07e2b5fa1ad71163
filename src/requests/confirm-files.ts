import type { Logger } from '@addon-operator/base/log';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { heldText } from '../model/purge-guard.ts';
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
 * Takes the files that a module has now for all that it is meant to have. Where nothing of it can be read there are none: that
 * is a decision about the module, which is made in another way.
 *
 * @returns why nothing is confirmed, and what to do instead; undefined when it is done
 */
export async function confirmFiles(operator: ConfirmFilesParts, name: string): Promise<string | undefined> {
  const { registry, converge, memory, router, log } = operator;
  const { purge } = converge;
  if (typeof purge !== 'string' && purge.releases.includes(name))
    return `no file of module ${name} can be confirmed, as it has no directory; ${heldText(purge)}`;
  const module = registry.find(name);
  if (module?.refusal?.type !== 'gone') return `no files of module ${name} are missing`;
  const { lost, reason, remedy } = await currentRefusal(module, module.refusal);
  if (lost === 'directory') return `no file of module ${name} can be confirmed: ${reason}; ${remedy}`;
  log.warn({ module: name, reason }, 'Missing files of the module are confirmed');
  memory.forget(name);
  router.main.prepend({ type: 'ReloadFiles', saved: [], modules: new Set([name]), trigger: FILES_CHANGED });
  router.main.cutDelay();
  return undefined;
}

/** Since a file was found missing the whole directory may have gone: it is a moment until that is noticed. */
async function currentRefusal(module: Module, refusal: GoneRefusal): Promise<GoneRefusal> {
  if (refusal.lost === 'directory') return refusal;
  const entry = entryOf(module);
  const content = await directoryContent(entry);
  return content.type === 'module' ? refusal : goneDirectory(entry, content.problem);
}
