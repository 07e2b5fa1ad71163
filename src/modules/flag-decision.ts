import {
  type Decision,
  DISABLED_BY_DEFAULT,
  type Extender,
  type ModuleFlags,
  opinionOf,
} from './enablement.ts';
import type { Module } from './module.ts';

/** What the flags alone say about a module, without asking its enabled script. */
export function flagDecision(module: Module, flags: ModuleFlags, extenders: readonly Extender[]): Decision {
  let decision = DISABLED_BY_DEFAULT;
  for (const extender of extenders) {
    const opinion = opinionOf(extender, module, flags, decision);
    if (opinion.type === 'flag') decision = opinion.decision;
  }
  return decision;
}
