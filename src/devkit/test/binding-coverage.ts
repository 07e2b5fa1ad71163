import { isObject } from '@addon-operator/json';
import { LIFECYCLE_BINDINGS } from '../../hook-config/binding-kinds.ts';
import { type HookConfig, type NamedBinding, namedBindings } from '../../hook-config/hook-config.ts';
import { fullName, type Hook } from '../../hooks/hook.ts';

/** The bindings and events of a hook that its tests have run it for. */
export interface HookCoverage {
  readonly hook: string;
  readonly total: number;
  /** Those that no test has run it for. */
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
function reasonsOf(config: HookConfig): readonly string[] {
  return [
    ...new Set([
      ...LIFECYCLE_BINDINGS.filter((binding) => config.lifecycle[binding] !== undefined),
      ...namedBindings(config).flatMap(reasonsOfBinding),
    ]),
  ];
}

function reasonsOfBinding(binding: NamedBinding): readonly string[] {
  const { name, group } = binding;
  if ('queue' in binding && group !== undefined) return [`group ${group}`];
  if ('watch' in binding)
    return [
      ...(binding.executeOnSynchronization ? [`${name} Synchronization`] : []),
      ...binding.watch.executeOnEvents.map((event) => `${name} ${event}`),
    ];
  if ('conversions' in binding)
    return binding.conversions.map(({ fromVersion, toVersion }) => `${name} ${fromVersion} to ${toVersion}`);
  return [name];
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
