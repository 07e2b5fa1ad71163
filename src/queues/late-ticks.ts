import type { HookRuntime } from '../model/hook-runtime.ts';
import type { HookTask } from '../model/tasks.ts';
import type { ModuleName } from '../values/module-key.ts';

/** A tick of a crontab that no run has served. */
export interface LateTick {
  /** Name of the hook. */
  readonly hook: string;
  /** Name of the binding. */
  readonly binding: string;
}

/** The ticks in dropped tasks. */
export function ticksIn(dropped: readonly HookTask[]): readonly LateTick[] {
  return dropped.flatMap(({ hook: { hook }, reasons }) =>
    reasons.flatMap((reason) =>
      reason.type === 'schedule' ? [{ hook: hook.name, binding: reason.binding.name }] : [],
    ),
  );
}

/**
 * Ticks whose tasks were dropped when another version of their module took over. They wait until the hooks of the
 * new version take ticks.
 */
export class LateTicks {
  readonly #ticks = new Map<ModuleName, readonly LateTick[]>();

  keep(module: ModuleName, ticks: readonly LateTick[]): void {
    if (ticks.length > 0) this.#ticks.set(module, ticks);
  }

  /** Returns the ticks of a module, and forgets them. */
  take(module: ModuleName): readonly LateTick[] {
    const ticks = this.#ticks.get(module) ?? [];
    this.#ticks.delete(module);
    return ticks;
  }
}

/** The binding of the same name of the hook of the same name. */
export function bindingOf(tick: LateTick, runtimes: readonly HookRuntime[]) {
  const runtime = runtimes.find(({ hook }) => hook.name === tick.hook);
  const binding = runtime?.hook.config.schedule.find(({ name }) => name === tick.binding);
  return runtime && binding && { runtime, binding };
}
