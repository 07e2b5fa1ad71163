import type { Hook } from '../hooks/hook.ts';
import { messageOf } from '../lib/errors.ts';
import type { ModulePlan } from './plan.ts';

/** What is found out about one module; `reason` only where it is not the one of its flag. */
export type PlanOfModule = Omit<ModulePlan, 'module' | 'isEnabled' | 'reason'> & { readonly reason?: string };

/** Of a module of which nothing is to be said. */
export const NOTHING = { hooks: [], crds: [], causes: [], changes: [], mayDifferBy: [] } as const;

/** Problems as a plan says them. */
export function errorOf(problems: readonly string[]): { readonly error?: string } {
  return problems.length === 0 ? {} : { error: problems.join('; ') };
}

/** A hook that does not answer is told of in `problems`, and the rest is looked at. */
export async function hooksOrNone(
  load: () => Promise<readonly Hook[]>,
  problems: string[],
  signal: AbortSignal,
): Promise<readonly Hook[]> {
  try {
    return await load();
  } catch (error) {
    signal.throwIfAborted();
    problems.push(messageOf(error));
    return [];
  }
}
