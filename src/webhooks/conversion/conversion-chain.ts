/** Finds the sequence of conversion rules from one version to another: a breadth-first search, so the shortest wins. */

import type { ConversionRule } from '../../hook-config/conversion-binding.ts';

/** Whether two versions are the same: equal, or one is short and equal to the other's part behind the group. */
export function isSameVersion(a: string, b: string): boolean {
  if (a === b) return true;
  const [shorter, longer] = a.includes('/') ? [b, a] : [a, b];
  return !shorter.includes('/') && longer.slice(longer.indexOf('/') + 1) === shorter;
}

/**
 * The shortest sequence of rules that leads from one version to another; undefined if there is none, or if the versions
 * are the same. Of several single rules the one that names more of the versions in full wins, `toVersion` first; of
 * several longer sequences the one declared first.
 */
export function findConversionChain<Rule extends ConversionRule>(
  rules: readonly Rule[],
  from: string,
  to: string,
): readonly Rule[] | undefined {
  if (isSameVersion(from, to)) return undefined;
  const direct = rules
    .filter((rule) => isSameVersion(rule.fromVersion, from) && isSameVersion(rule.toVersion, to))
    .toSorted((a, b) => exactness(b, from, to) - exactness(a, from, to))[0];
  return direct === undefined ? shortestChain(rules, from, to) : [direct];
}

function exactness(rule: ConversionRule, from: string, to: string): number {
  return (rule.toVersion === to ? 2 : 0) + (rule.fromVersion === from ? 1 : 0);
}

function shortestChain<Rule extends ConversionRule>(
  rules: readonly Rule[],
  from: string,
  to: string,
): readonly Rule[] | undefined {
  const used = new Set<Rule>();
  let chains: readonly (readonly Rule[])[] = [[]];
  while (chains.length > 0) {
    const longer: (readonly Rule[])[] = [];
    for (const chain of chains) {
      const reached = chain.at(-1)?.toVersion ?? from;
      for (const rule of rules) {
        // Each rule is part of one chain only; that also ends the search where rules form a circle.
        if (used.has(rule) || !isSameVersion(rule.fromVersion, reached)) continue;
        used.add(rule);
        longer.push([...chain, rule]);
      }
    }
    const found = longer.find((chain) => isSameVersion(chain.at(-1)?.toVersion ?? '', to));
    if (found !== undefined) return found;
    chains = longer;
  }
  return undefined;
}
