import { isObject } from '@addon-operator/json';
import type { HookConfig } from '../../hook-config/hook-config.ts';
import { fullName, type Hook } from '../../hooks/hook.ts';
import { LIFECYCLE } from '../planned-runs.ts';

/** What the tests of one hook have run it for. */
export interface HookCoverage {
  readonly hook: string;
  readonly total: number;
  /** What no test has run it for. */
  readonly missing: readonly string[];
}

/** Collects for which of its bindings, and for which events of them, each hook was run. */
export class BindingCoverage {
  readonly #hooks = new Map<string, { readonly all: readonly string[]; readonly run: Set<string> }>();

  /** @param contexts binding contexts of runs of the hook */
  note(hook: Hook, contexts: readonly unknown[]): void {
    const name = fullName(hook);
    const known = this.#hooks.get(name) ?? { all: reasonsOf(hook.config), run: new Set<string>() };
    this.#hooks.set(name, known);
    for (const context of contexts) if (isObject(context)) known.run.add(reasonOf(context));
  }

  get hooks(): readonly HookCoverage[] {
    // Which hook was run first is a matter of chance.
    const sorted = [...this.#hooks].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([hook, { all, run }]) => ({
      hook,
      total: all.length,
      missing: all.filter((reason) => !run.has(reason)),
    }));
  }
}

/** All that a hook can be run for, apart from deployments. */
function reasonsOf({
  lifecycle,
  kubernetes,
  schedule,
  admission,
  conversion,
}: HookConfig): readonly string[] {
  const reasons = [
    ...LIFECYCLE.filter((binding) => lifecycle[binding] !== undefined),
    ...kubernetes.flatMap(({ name, group, watch, executeOnSynchronization }) =>
      group === undefined
        ? [
            ...(executeOnSynchronization ? [`${name} Synchronization`] : []),
            ...watch.executeOnEvents.map((event) => `${name} ${event}`),
          ]
        : [`group ${group}`],
    ),
    ...schedule.map(({ name, group }) => (group === undefined ? name : `group ${group}`)),
    ...admission.map(({ name }) => name),
    ...conversion.flatMap(({ name, conversions }) =>
      conversions.map(({ fromVersion, toVersion }) => `${name} ${fromVersion} to ${toVersion}`),
    ),
  ];
  return [...new Set(reasons)];
}

function reasonOf(context: Readonly<Record<string, unknown>>): string {
  const { binding, type, watchEvent, groupName, fromVersion, toVersion } = context;
  switch (type) {
    case 'Synchronization':
      return `${String(binding)} Synchronization`;
    case 'Event':
      return `${String(binding)} ${String(watchEvent)}`;
    case 'Group':
      return `group ${String(groupName)}`;
    case 'Conversion':
      return `${String(binding)} ${String(fromVersion)} to ${String(toVersion)}`;
    default:
      return String(binding);
  }
}
