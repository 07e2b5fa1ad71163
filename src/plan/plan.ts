/** The data of a plan, and pure functions on it: which hooks would run, and what the exit code of `plan` is. */

import { messageOf } from '@addon-operator/base/errors';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { isPartOfDeletion, lifecycleBindingsOf } from '../hook-config/binding-kinds.ts';
import { type NamedBinding, namedBindings } from '../hook-config/hook-config.ts';
import type { Hook } from '../hooks/hook.ts';
import type { Module } from '../modules/module.ts';
import { addressTitle, type WebhookCapability } from '../modules/reconcile-webhook.ts';
import type { ManifestChange } from './manifest-changes.ts';

/**
 * The action of a daemon on a module: `install`, `upgrade`, `none` where its release is up to date or it has no
 * chart, `apply-crds` where only CRDs are written then; `delete` the release of a module that is disabled; `orphan` it where its deletion policy says so; `purge` a release
 * without a module, or `hold` it until that is confirmed; `stay-off`; `wait` for the end of a pause; `refuse` to run what is not authorized.
 */
export type PlannedAction =
  | 'install'
  | 'upgrade'
  | 'none'
  | 'apply-crds'
  | 'delete'
  | 'orphan'
  | 'purge'
  | 'hold'
  | 'stay-off'
  | 'wait'
  | 'refuse';

/** A hook that would run, and at which points. */
export interface PlannedHook {
  readonly hook: string;
  /** Such as `beforeHelm 10`, `schedule 0 * * * *` or `kubernetes pods`. */
  readonly when: readonly string[];
}

export interface ModulePlan {
  readonly module: string;
  readonly action: PlannedAction;
  readonly isEnabled: boolean;
  /** Who enabled or disabled it. */
  readonly reason: string;
  readonly hooks: readonly PlannedHook[];
  /** CRDs of the module that would be written, by name; those that are created have no lines. */
  readonly crds: readonly ManifestChange[];
  /** Phrases that say why helm would upgrade whatever the chart renders to; empty when only `changes` are the cause. */
  readonly causes: readonly string[];
  readonly changes: readonly ManifestChange[];
  /** Hooks that run before helm and may change values, so that the manifests may turn out differently. */
  readonly mayDifferBy: readonly string[];
  /** The reconcile webhook decides what is applied; it is called by a deployment, and not for a plan. */
  readonly asksHttpHook?: true;
  /** Why it cannot be said what would happen to the module. */
  readonly error?: string;
}

export interface Plan {
  readonly globalHooks: readonly PlannedHook[];
  /** In the order in which they would be dealt with: those that go, then those that run. */
  readonly modules: readonly ModulePlan[];
  /** Parts that could not be inspected. */
  readonly problems: readonly string[];
}

type PlanOutcome = 'nothing' | 'changes' | 'unknown';

/** Whether anything would change; `unknown` when something could not be looked at. */
export function outcomeOf({ modules, problems }: Plan): PlanOutcome {
  if (problems.length > 0 || modules.some(({ error }) => error !== undefined)) return 'unknown';
  return modules.some(({ action }) => !WITHOUT_CHANGE.has(action)) ? 'changes' : 'nothing';
}

const WITHOUT_CHANGE: ReadonlySet<PlannedAction> = new Set(['none', 'hold', 'stay-off', 'wait', 'refuse']);

/** The occasion for which hooks are planned. */
type HookOccasion = 'run' | 'deletion';

/** When hooks would run, in the order of a start; those that would not are left out. */
export function plannedHooks(hooks: readonly Hook[], occasion: HookOccasion): readonly PlannedHook[] {
  return hooks.map((hook) => plannedHook(hook, occasion)).filter(({ when }) => when.length > 0);
}

function plannedHook({ name, config, owner }: Hook, occasion: HookOccasion): PlannedHook {
  const bindings = [...lifecycleBindingsOf(owner.type), ...(owner.type === 'global' ? DEPLOY_BINDINGS : [])];
  const lifecycle = bindings
    .filter((binding) => isPartOfDeletion(binding) === (occasion === 'deletion'))
    .flatMap((binding) => {
      const order = config.lifecycle[binding];
      return order === undefined ? [] : [`${binding} ${order}`];
    });
  if (occasion === 'deletion') return { hook: name, when: lifecycle };
  return { hook: name, when: [...lifecycle, ...namedBindings(config).map(occasionOf)] };
}

function occasionOf(binding: NamedBinding): string {
  if ('watch' in binding) return `kubernetes ${binding.name} (${binding.watch.kind})`;
  if ('crontab' in binding) return `schedule ${binding.crontab}`;
  if ('crdName' in binding) return `conversion ${binding.crdName}`;
  return `${binding.type} ${binding.name}`;
}

/** When the reconcile webhook of a module would be called; empty without one. */
export function plannedHttpHook(
  { manifest: { hook } }: Pick<Module, 'manifest'>,
  capability: WebhookCapability,
): readonly PlannedHook[] {
  if (hook?.capabilities.includes(capability) !== true) return [];
  return [{ hook: `HTTP hook ${addressTitle(hook.address)}`, when: [capability] }];
}

/** Whether a hook gets to run before the chart of its module, or of any where it is global, is deployed. */
export function runsBeforeHelm({ config }: Hook): boolean {
  return (
    config.lifecycle.onStartup !== undefined ||
    config.lifecycle.beforeAll !== undefined ||
    config.lifecycle.beforeHelm !== undefined ||
    config.kubernetes.some(({ executeOnSynchronization }) => executeOnSynchronization)
  );
}

/** The plan of one module; `reason` only where it differs from the reason of its flag. */
export type PlanOfModule = Omit<ModulePlan, 'module' | 'isEnabled' | 'reason'> & { readonly reason?: string };

/** The plan of a module without hooks, CRDs and changes. */
export const NOTHING = { hooks: [], crds: [], causes: [], changes: [], mayDifferBy: [] } as const;

/** Problems as a plan says them. */
export function errorOf(problems: readonly string[]): { readonly error?: string } {
  return problems.length === 0 ? {} : { error: problems.join('; ') };
}

/** A hook that fails is added to `problems`, and the others are still loaded. */
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
