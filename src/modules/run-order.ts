import type { ModuleName } from '../values/module-key.ts';
import { compareRunOrder, type Module, type Refusal } from './module.ts';

type Ordered = Pick<Module, 'name' | 'order' | 'manifest' | 'refusal'>;
type Cycle = Extract<Refusal, { type: 'cycle' }>;

/**
 * Sorts modules into run order: by number, then by name, except that required modules, also
 * optional ones, come first. A module moves right behind the last one it requires; all others keep
 * their order. Modules that require each other in a cycle are refused, and so are modules that
 * require those.
 */
export function inRunOrder<M extends Ordered>(modules: readonly M[]): readonly M[] {
  const waiting = new Map(
    modules
      .map((module) => withoutCycle(module))
      .toSorted(compareRunOrder)
      .map((module) => [module.name, module]),
  );
  const placed: M[] = [];
  const cycles = new Map<ModuleName, Cycle>();
  const place = (module: M, cycle: Cycle | undefined): void => {
    waiting.delete(module.name);
    if (cycle !== undefined) cycles.set(module.name, cycle);
    placed.push(cycle === undefined || module.refusal !== undefined ? module : { ...module, refusal: cycle });
  };
  while (waiting.size > 0) {
    // The first free module in name order: quadratic, which is fine for hundreds of modules.
    const next = [...waiting.values()].find((module) => requiredIn(waiting, module).length === 0);
    if (next !== undefined) {
      place(next, cycleBehind(next, cycles));
      continue;
    }
    const cycle = cycleIn(waiting);
    const names = [...cycle, ...cycle.slice(0, 1)].map(({ name }) => name).join(' -> ');
    for (const module of cycle.toSorted(compareRunOrder)) place(module, cycleOf(names));
  }
  return placed;
}

/** Drops the refusal of an earlier sort: cycles are found again each time. */
function withoutCycle<M extends Ordered>(module: M): M {
  if (module.refusal?.type !== 'cycle') return module;
  const { refusal: _cycle, ...rest } = module;
  return rest as M;
}

function cycleOf(names: string): Cycle {
  return {
    type: 'cycle',
    reason: `modules require each other in a cycle: ${names}`,
    remedy: 'remove one of these entries from requires in module.yaml',
  };
}

function cycleBehind({ manifest }: Ordered, cycles: ReadonlyMap<ModuleName, Cycle>): Cycle | undefined {
  const required = manifest.requires.find(({ name, isOptional }) => !isOptional && cycles.has(name));
  return required && cycles.get(required.name);
}

function requiredIn<M extends Ordered>(modules: ReadonlyMap<ModuleName, M>, module: M): readonly M[] {
  return module.manifest.requires.flatMap(({ name }) => modules.get(name) ?? []);
}

/**
 * Finds a cycle. Each of the modules requires another of them, so following requirements ends in
 * one.
 */
function cycleIn<M extends Ordered>(modules: ReadonlyMap<ModuleName, M>): readonly M[] {
  const path: M[] = [];
  let [module] = modules.values();
  while (module !== undefined && !path.includes(module)) {
    path.push(module);
    [module] = requiredIn(modules, module);
  }
  return module === undefined ? path : path.slice(path.indexOf(module));
}
