import { type Clock, type SteadyClock, wallTimeOf } from '@addon-operator/base/clock';
import type { JsonObject } from '@addon-operator/json';
import type { BindingHealth } from '../events/kubernetes/monitor.ts';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import { title } from '../hooks/hook.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { endOf } from '../status/cut-text.ts';

/** What the functions here use of the operator. */
export interface BindingProblemsParts {
  readonly registry: ModuleRegistry;
  readonly globalHooks: GlobalHooks;
}

/** A watch is often opened anew: only one that fails for longer makes a snapshot out of date. */
const STALE_AFTER_MS = 60_000;
/** A filter may call `error` with a whole object. */
const MAX_ERROR_LENGTH = 1_000;

export interface BindingState {
  readonly runtime: HookRuntime;
  readonly binding: KubernetesBinding;
  readonly health: BindingHealth;
}

/** All kubernetes bindings of the hooks. */
export function statesOf(runtimes: readonly HookRuntime[]): readonly BindingState[] {
  const states: BindingState[] = [];
  // Many hooks have none.
  for (const runtime of runtimes)
    for (const binding of runtime.hook.config.kubernetes)
      states.push({ runtime, binding, health: runtime.health(binding.index) });
  return states;
}

/** The hooks of the operator: global ones, then those of modules. */
export function allRuntimes({ globalHooks, registry }: BindingProblemsParts): readonly HookRuntime[] {
  return [...globalHooks.runtimes, ...[...registry.tracked.values()].flatMap(({ hooks }) => hooks ?? [])];
}

/**
 * Sentences about bindings whose snapshots are missing, or may be out of date, and why.
 *
 * @param which default: all; or those only that the API server refuses to list or watch
 */
export function staleBindings(
  runtimes: readonly HookRuntime[],
  clock: SteadyClock,
  which: 'all' | 'refused' = 'all',
): readonly string[] {
  const stale = staleStates(statesOf(runtimes), clock);
  const named = which === 'all' ? stale : stale.filter(({ failure }) => failure.isRefused);
  return named.map(({ state, failure }) => {
    const { lastActivityMs } = state.health;
    const age =
      lastActivityMs === undefined
        ? 'has no snapshot'
        : `has a snapshot that was confirmed ${Math.round((clock.steadyMs() - lastActivityMs) / 1_000)} s ago`;
    return `${placeOf(state.runtime, state.binding)} ${age}: ${failure.error}${asideText(state)}`;
  });
}

/** The same bindings, in sentences that stay the same while nothing changes. */
export function staleWatches(
  states: readonly BindingState[],
  clock: SteadyClock,
): readonly { readonly text: string; readonly isForbidden: boolean }[] {
  return staleStates(states, clock).map(({ state, failure }) => {
    const what = state.health.lastActivityMs === undefined ? 'has no snapshot' : 'has an old snapshot';
    const text = `${placeOf(state.runtime, state.binding)} ${what}: ${failure.error}${asideText(state)}`;
    return { text, isForbidden: failure.isRefused };
  });
}

function staleStates(states: readonly BindingState[], clock: SteadyClock) {
  return states.flatMap((state) => {
    const { watchFailure: failure } = state.health;
    if (failure === undefined) return [];
    if (!failure.isRefused && clock.steadyMs() - failure.sinceMs < STALE_AFTER_MS) return [];
    return [{ state, failure }];
  });
}

function asideText({ runtime }: BindingState): string {
  return runtime.isSetAside ? '; the hook does not run until then' : '';
}

/** Sentences about objects whose last state is in no snapshot. */
export function unfilteredObjects(runtimes: readonly HookRuntime[], clock: Clock): readonly string[] {
  return statesOf(runtimes).flatMap(({ runtime, binding, health: { filterFailures } }) => {
    const [first] = filterFailures;
    if (first === undefined) return [];
    const { error, attempts, nextAttemptMs } = first;
    const others = filterFailures.length === 1 ? '' : ` and ${filterFailures.length - 1} more`;
    const next = timeOf(nextAttemptMs, clock);
    return [
      `${placeOf(runtime, binding)} does not have the last state of ${first.namespace}/${first.name}${others} (attempts: ${attempts}, next at ${next}): ${endOf(error, MAX_ERROR_LENGTH)}`,
    ];
  });
}

/** What the commands about snapshots show beside one; nothing while all is well. */
export function problemsShown(health: BindingHealth, clock: Clock): JsonObject {
  const { lastActivityMs, watchFailure, filterFailures } = health;
  return {
    ...(watchFailure !== undefined && {
      watchFailure: {
        error: watchFailure.error,
        since: timeOf(watchFailure.sinceMs, clock),
        lastActivity: lastActivityMs === undefined ? null : timeOf(lastActivityMs, clock),
      },
    }),
    ...(filterFailures.length > 0 && {
      filterFailures: filterFailures.map(({ namespace, name, error, attempts, sinceMs, nextAttemptMs }) => ({
        namespace,
        name,
        error,
        attempts,
        since: timeOf(sinceMs, clock),
        nextAttempt: timeOf(nextAttemptMs, clock),
      })),
    }),
  };
}

function placeOf({ hook }: HookRuntime, { name }: KubernetesBinding): string {
  const module = hook.owner.type === 'module' ? `module ${hook.owner.module}, ` : '';
  return `${module}${title(hook)}, kubernetes binding '${name}'`;
}

function timeOf(steadyMs: number, clock: Clock): string {
  return new Date(wallTimeOf(steadyMs, clock)).toISOString();
}
