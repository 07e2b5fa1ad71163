import type { Discovery } from '../../src/modules/discovery.ts';
import { type Decision, DISABLED_BY_DEFAULT } from '../../src/modules/enablement.ts';
import type { Module } from '../../src/modules/module.ts';

/** What a discovery finds out where these names are enabled and nothing else counts. */
export function labDiscovery(known: readonly Module[], enabled: ReadonlySet<string>): Discovery {
  return {
    enabled: known.map(({ name }) => name).filter((name) => enabled.has(name)),
    decisions: new Map(
      known.flatMap((module): readonly (readonly [Module['name'], Decision])[] => {
        const { name, refusal: reason } = module;
        const isEnabled = enabled.has(name);
        if (reason !== undefined) return [[name, { isEnabled, source: 'authorization', reason }]];
        return isEnabled ? [] : [[name, DISABLED_BY_DEFAULT]];
      }),
    ),
  };
}
