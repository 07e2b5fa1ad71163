import type { ReleaseInCluster } from '../model/releases.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleExplanation } from '../status/module-explanation.ts';
import { whyTree } from '../status/why-tree.ts';
import { explainModule, heldExplanations } from './explain-module.ts';
import type { Explained } from './explained.ts';

/**
 * The explanation of one module, with the tree of its conditions; undefined for an unknown name.
 */
export function explainWhy(
  operator: Explained,
  name: string,
  releases: readonly ReleaseInCluster[],
): ModuleExplanation | undefined {
  // A module without a directory may still be known by its held release.
  const module = operator.registry.find(name);
  const explanation =
    module === undefined
      ? heldExplanations(operator, releases).find((held) => held.module === name)
      : explainModule(operator, module, releases);
  return explanation && { ...explanation, why: treeOf(operator, module, explanation) };
}

/**
 * Builds the tree of conditions. The flag's name and the opinions of all sources show a user where
 * to change the decision.
 */
function treeOf({ registry }: Explained, module: Module | undefined, explanation: ModuleExplanation) {
  return whyTree(explanation, {
    flag: `${module?.key ?? explanation.module}Enabled`,
    responses: (module && registry.discovery?.responses?.get(module.name)) ?? [],
    hasChart: module?.chart !== 'none',
  });
}
