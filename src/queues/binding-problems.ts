import { type Clock, type SteadyClock, wallTimeOf } from '@addon-operator/base/clock';
import type { JsonObject } from '@addon-operator/json';
import type { BindingHealth } from '../events/kubernetes/monitor.ts';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import { fullName, title } from '../hooks/hook.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { endOf } from '../status/cut-text.ts';
import type { HookSentence } from '../status/problem.ts';

/** The parts that know all hooks. */
export interface BindingProblemsParts {
  readonly registry: ModuleRegistry;
  readonly globalHooks: GlobalHooks;
}

/** Watches are reopened often: a snapshot counts as out of date only after a longer failure. */
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
  // Called for every hook, and many have no kubernetes binding.
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
 * Sentences about bindings whose snapshots are missing or may be out of date, with the cause.
 *
 * @param which `refused`: only bindings that the API server refuses to list or watch; default: all
 */
export function staleBindings(
  runtimes: readonly HookRuntime[],
  clock: Clock,
  which: 'all' | 'refused' = 'all',
): readonly HookSentence[] {
  const stale = staleStates(statesOf(runtimes), clock);
  const named = which === 'all' ? stale : stale.filter(({ failure }) => failure.isRefused);
  return named.map(({ state, failure }) => {
    const { lastActivityMs } = state.health;
    const age =
      lastActivityMs === undefined
        ? 'has no snapshot'
        : `has a snapshot that was confirmed ${Math.round((clock.steadyMs() - lastActivityMs) / 1_000)} s ago`;
    const text = `${placeOf(state.runtime, state.binding)} ${age}: ${failure.error}${asideText(state)}`;
    return sentenceAbout(state, text, timeOf(failure.sinceMs, clock));
  });
}

/** The same bindings, in sentences without ages: clients compare them to detect a change. */
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
    // A refusal (401, 403, 404) does not pass by itself, so it counts at once.
    if (!failure.isRefused && clock.steadyMs() - failure.sinceMs < STALE_AFTER_MS) return [];
    return [{ state, failure }];
  });
}

function asideText({ runtime }: BindingState): string {
  return runtime.isSetAside ? '; the hook does not run until then' : '';
}

/** Sentences about objects whose last state failed in the filter, and so is in no snapshot. */
export function unfilteredObjects(runtimes: readonly HookRuntime[], clock: Clock): readonly HookSentence[] {
  return statesOf(runtimes).flatMap((state) => {
    const { runtime, binding, health } = state;
    const { filterFailures } = health;
    const [first] = filterFailures;
    if (first === undefined) return [];
    const { error, attempts, nextAttemptMs } = first;
    const others = filterFailures.length === 1 ? '' : ` and ${filterFailures.length - 1} more`;
    const next = timeOf(nextAttemptMs, clock);
    const text = `${placeOf(runtime, binding)} does not have the last state of ${first.namespace}/${first.name}${others} (attempts: ${attempts}, next at ${next}): ${endOf(error, MAX_ERROR_LENGTH)}`;
    return [sentenceAbout(state, text, timeOf(first.sinceMs, clock))];
  });
}

function sentenceAbout(
  { runtime: { hook }, binding }: BindingState,
  text: string,
  since: string,
): HookSentence {
  const module = hook.owner.type === 'module' ? hook.owner.module : '';
  return { text, module, hook: fullName(hook), binding: binding.name, since };
}

/** The health of a binding, for commands that print its snapshot; empty without a problem. */
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
