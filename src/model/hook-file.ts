import type { Hook } from '../hooks/hook.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { Task } from './tasks.ts';
import type { ModulePart, TrackedModule } from './tracked-module.ts';

/** The hook file as its author knows it: an authorized module runs from a copy elsewhere. */
export function sourceFile({ path, owner }: Hook, registry: Pick<ModuleRegistry, 'find'>): string {
  const module = owner.type === 'module' ? registry.find(owner.module) : undefined;
  if (module?.source === undefined || !path.startsWith(module.path)) return path;
  return `${module.source}${path.slice(module.path.length)}`;
}

/**
 * The part of a module that a task failed in; undefined if it was neither a hook nor a requirement.
 */
export function failedPartOf(
  task: Task,
  tracked: Pick<TrackedModule, 'failedPart'> | undefined,
): ModulePart | undefined {
  if (task.type === 'ModuleHookRun') return { type: 'hook', hook: task.hook.hook, binding: task.binding };
  return task.type === 'ModuleRun' || task.type === 'ModuleDelete' ? tracked?.failedPart : undefined;
}
