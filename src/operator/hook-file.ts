import type { Hook } from '../hooks/hook.ts';
import type { ModuleRegistry } from './module-registry.ts';

/** The file of a hook as its author knows it: an authorized module runs from a copy. */
export function sourceFile({ path, owner }: Hook, registry: Pick<ModuleRegistry, 'find'>): string {
  const module = owner.type === 'module' ? registry.find(owner.module) : undefined;
  if (module?.source === undefined || !path.startsWith(module.path)) return path;
  return `${module.source}${path.slice(module.path.length)}`;
}
