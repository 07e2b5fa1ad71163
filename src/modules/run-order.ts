import { OperatorError } from '@addon-operator/base/errors';
import type { ModuleName } from '../values/module-key.ts';
import { compareRunOrder, type Module } from './module.ts';

type Ordered = Pick<Module, 'name' | 'order' | 'manifest'>;

/**
 * Sorts modules into run order: by number, then by name, except that modules which a module requires, also optionally, come
 * before it. A module moves just behind the last one it requires, all others keep their order.
 *
 * @throws OperatorError MODULE_INVALID naming the modules of a cycle of requirements
 */
export function inRunOrder<M extends Ordered>(modules: readonly M[]): readonly M[] {
  const waiting = new Map(modules.toSorted(compareRunOrder).map((module) => [module.name, module]));
  const placed: M[] = [];
  while (waiting.size > 0) {
    const next = [...waiting.values()].find((module) => requiredIn(waiting, module).length === 0);
    if (next === undefined) throw cycleError(waiting);
    waiting.delete(next.name);
    placed.push(next);
  }
  return placed;
}

function requiredIn<M extends Ordered>(modules: ReadonlyMap<ModuleName, M>, module: M): readonly M[] {
  return module.manifest.requires.flatMap(({ name }) => modules.get(name) ?? []);
}

/** Each of the modules requires another of them, so that following requirements ends in a cycle. */
function cycleError(modules: ReadonlyMap<ModuleName, Ordered>): OperatorError {
  const path: Ordered[] = [];
  let [module] = modules.values();
  while (module !== undefined && !path.includes(module)) {
    path.push(module);
    [module] = requiredIn(modules, module);
  }
  const cycle = module === undefined ? path : [...path.slice(path.indexOf(module)), module];
  const names = cycle.map(({ name }) => name).join(' -> ');
  return new OperatorError(
    'MODULE_INVALID',
    `modules require each other in a cycle: ${names}; remove one of these entries from requires in module.yaml`,
  );
}
