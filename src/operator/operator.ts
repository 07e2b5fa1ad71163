import { ConvergeState } from './converge-state.ts';
import { GlobalHooks } from './global-hooks.ts';
import { ModuleOperations } from './module-operations.ts';
import type { ModuleRegistry } from './module-registry.ts';
import { ModuleTurns } from './module-turns.ts';
import type { OperatorDeps } from './operator-deps.ts';
import { RunAborts } from './run-aborts.ts';
import { TaskRouter } from './task-router.ts';

/** The parts that remember what the operator does, and those that it uses. */
export class Operator {
  readonly deps: OperatorDeps;
  readonly registry: ModuleRegistry;
  readonly converge = new ConvergeState();
  readonly globalHooks = new GlobalHooks();
  readonly router: TaskRouter;
  readonly turns = new ModuleTurns();
  readonly operations: ModuleOperations;
  readonly aborts = new RunAborts();

  constructor(deps: OperatorDeps, registry: ModuleRegistry) {
    this.deps = deps;
    this.registry = registry;
    this.operations = new ModuleOperations(deps.operationSource);
    const { converge, globalHooks } = this;
    this.router = new TaskRouter({ ...deps, registry, converge, globalHooks });
  }
}
