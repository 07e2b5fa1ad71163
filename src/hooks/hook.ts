/** A loaded hook, and small pure functions on it: names, owners, order, labels. */

import { type HookConfig, type KubernetesBinding, queuedBindings } from '../hook-config/hook-config.ts';
import type { BindingLabels } from '../metrics/operator-metrics.ts';
import { GLOBAL_SECTION, type ModuleName, type ValuesOwner } from '../values/module-key.ts';
import type { PythonVenv } from './python.ts';

/** Whose hook it is: hooks of different modules may have the same name. */
export type HookOwner =
  | { readonly type: 'global' }
  | { readonly type: 'module'; readonly module: ModuleName };

/** How a hook is run: as a process of its own, by a thread in the process of the in-process hooks, or by a server. */
export type HookTransport = 'executable' | 'in-process' | 'http';

/** The part of a batch file (a file with several hooks) that a hook is. */
export type BatchPart =
  /** One of its hooks, by its position in the configuration as it was last read. */
  | {
      readonly type: 'hook';
      readonly index: number;
      /** The mark of the file at that time; absent where it is not checked. */
      readonly mark?: string;
    }
  /** Whether the module is ready. */
  | { readonly type: 'readiness' }
  /** Whether a section of the ConfigMap can be used. It has no bindings: the operator runs it before it takes a section over. */
  | { readonly type: 'settings-check' };

/** A hook whose configuration is known. */
export interface Hook {
  readonly name: string;
  /** Absolute path of its file. */
  readonly path: string;
  readonly transport: HookTransport;
  readonly owner: HookOwner;
  readonly config: HookConfig;
  /** The virtual environment that it runs with, of an executable in Python. */
  readonly python?: PythonVenv;
  /** Absent for a file that is one hook. */
  readonly batch?: BatchPart;
}

/** The arguments of an executable for a run. */
export function argumentsOf({ batch }: Pick<Hook, 'batch'>): readonly string[] {
  switch (batch?.type) {
    case undefined:
      return [];
    case 'hook':
      return ['hook', 'run', String(batch.index)];
    case 'readiness':
      return ['hook', 'ready'];
    case 'settings-check':
      return ['hook', 'check'];
  }
}

/** Hooks with the given lifecycle binding in the order they run: by order number, then by name, those of one file by index. */
export function hooksInOrder(
  hooks: readonly Hook[],
  binding: keyof HookConfig['lifecycle'],
): readonly Hook[] {
  return hooks
    .filter((hook) => hook.config.lifecycle[binding] !== undefined)
    .toSorted(
      (a, b) =>
        (a.config.lifecycle[binding] ?? 0) - (b.config.lifecycle[binding] ?? 0) ||
        compareInFile(a, b) ||
        compare(a.name, b.name),
    );
}

/** Hooks of one file by their index: as parts of names, 10 comes before 9. */
function compareInFile(a: Hook, b: Hook): number {
  if (a.path !== b.path || a.batch?.type !== 'hook' || b.batch?.type !== 'hook') return 0;
  return a.batch.index - b.batch.index;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whose values the hook reads and patches. */
export function valuesOwnerOf(hook: Hook): ValuesOwner {
  return hook.owner.type === 'global' ? GLOBAL_SECTION : hook.owner.module;
}

/** The module label of logs and metrics; empty for global hooks. */
export function moduleNameOf(hook: Hook): string {
  return hook.owner.type === 'global' ? '' : hook.owner.module;
}

/** Whether any of its bindings leaves events out. */
export function coalesces({ config }: Hook): boolean {
  return config.kubernetes.some(({ coalesce }) => coalesce === 'object');
}

/** How commands name a hook among those of all modules. */
export function fullName(hook: Hook): string {
  return hook.owner.type === 'global' ? hook.name : `${hook.owner.module}/${hook.name}`;
}

/** How messages name a hook. */
export function title(hook: Hook): string {
  return `${hook.owner.type} hook '${hook.name}'`;
}

/** The queues that the bindings of a hook name. */
export function queuesOf({ config }: Hook): readonly string[] {
  return queuedBindings(config).map(({ queue }) => queue);
}

/** How many bindings a hook has, apart from those for webhooks. */
export function bindingCount({ config }: Hook): number {
  return Object.keys(config.lifecycle).length + queuedBindings(config).length;
}

/** The labels under which everything about one kubernetes binding is measured. */
export function bindingLabels(hook: Hook, binding: KubernetesBinding): BindingLabels {
  return {
    module: moduleNameOf(hook),
    hook: hook.name,
    binding: binding.name,
    queue: binding.queue,
    kind: binding.watch.kind,
  };
}
