import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleExplanation } from '../status/module-explanation.ts';

/** The module author's description, and the required version of Kubernetes. */
export function saidByAuthor(
  { registry: { discovery } }: { readonly registry: Pick<ModuleRegistry, 'discovery'> },
  { manifest: { about, kubernetes: range } }: Module,
): Pick<ModuleExplanation, 'about' | 'kubernetes'> {
  return {
    ...(Object.keys(about).length > 0 && { about }),
    ...(range !== undefined && { kubernetes: { range, version: discovery?.kubernetes ?? null } }),
  };
}
