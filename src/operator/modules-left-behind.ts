import type { ModuleName } from '../values/module-key.ts';
import type { IsolationParts } from './isolation.ts';
import { isolatedModules } from './isolation.ts';
import type { ModuleRegistry } from './module-registry.ts';

/** What the functions here use of the operator. */
export type ModulesLeftBehindParts = {
  readonly registry: ModuleRegistry;
} & IsolationParts;

/** Modules that a converge which is over went on without: isolated, failed for good, or not authorized. In run order. */
export function modulesLeftBehind(operator: ModulesLeftBehindParts): readonly ModuleName[] {
  const isolated = isolatedModules(operator);
  const isLeftBehind = (name: ModuleName): boolean =>
    isolated.includes(name) ||
    operator.registry.refusals.has(name) ||
    operator.registry.tracked.get(name)?.stall !== undefined;
  return operator.registry.modules.map(({ name }) => name).filter(isLeftBehind);
}
