import type { Module } from '../modules/module.ts';

/**
 * Splits modules, given in run order, into groups that may run at the same time: neighbours with
 * the same order number, none of which requires another.
 */
export function parallelGroups<M extends Pick<Module, 'name' | 'order' | 'manifest'>>(
  modules: readonly M[],
): readonly (readonly M[])[] {
  const groups: M[][] = [];
  for (const module of modules) {
    const group = groups.at(-1);
    const fits = group?.every(
      (other) =>
        other.order === module.order && module.manifest.requires.every(({ name }) => name !== other.name),
    );
    if (group !== undefined && fits === true) group.push(module);
    else groups.push([module]);
  }
  return groups;
}
