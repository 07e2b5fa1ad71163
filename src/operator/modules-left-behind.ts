import type { ModuleName } from '../values/module-key.ts';
import { isolatedModules } from './isolation.ts';
import type { Operator } from './operator.ts';

/** Modules that a converge which is over went on without: isolated, failed for good, or not authorized. In run order. */
export function modulesLeftBehind(operator: Operator): readonly ModuleName[] {
  const isolated = isolatedModules(operator);
  const isLeftBehind = (name: ModuleName): boolean =>
    isolated.includes(name) ||
    operator.registry.refusals.has(name) ||
    operator.registry.states.get(name)?.stall !== undefined;
  return operator.registry.modules.map(({ name }) => name).filter(isLeftBehind);
}
