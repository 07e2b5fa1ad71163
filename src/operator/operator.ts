import type { ConvergeState } from './converge-state.ts';
import type { GlobalHooks } from './global-hooks.ts';
import type { ModuleOperations } from './module-operations.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { ModuleTurns } from './module-turns.ts';
import type { OperatorDeps } from './operator-deps.ts';
import type { RunAborts } from './run-aborts.ts';
import type { TaskRouter } from './task-router.ts';

/** The parts that remember what the operator does, and those that it uses. */
export interface Operator {
  readonly deps: OperatorDeps;
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly turns: ModuleTurns;
  readonly operations: ModuleOperations;
  readonly aborts: RunAborts;
}

/** Some parts of the operator, and some of what it uses: for code that needs no more. */
export type OperatorWith<Part extends Exclude<keyof Operator, 'deps'>, Dep extends keyof OperatorDeps> = Pick<
  Operator,
  Part
> & { readonly deps: Pick<OperatorDeps, Dep> };
