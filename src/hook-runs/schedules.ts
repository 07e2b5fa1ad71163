import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { ScheduleManager } from '@addon-operator/crontab/schedule-manager';
import type { ScheduleBinding } from '../hook-config/hook-config.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { TaskRouter } from '../queues/task-router.ts';

export interface SchedulesOptions {
  readonly manager: Pick<ScheduleManager, 'add' | 'remove' | 'run'>;
  readonly onTick: (runtime: HookRuntime, binding: ScheduleBinding) => void;
}

interface Subscription {
  readonly runtime: HookRuntime;
  readonly binding: ScheduleBinding;
}

/**
 * The subscriptions of hooks to crontabs. Hooks with the same crontab share a timer of the
 * `ScheduleManager`; a tick goes to the router, which queues one task per binding. A disabled hook
 * has no subscription, so that its crontabs end with the last of them.
 */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #lastId = 0;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Subscribes the crontabs of a hook, or cancels them. */
  set(runtime: HookRuntime, isEnabled: boolean): void {
    if (runtime.areSchedulesEnabled === isEnabled) return;
    runtime.enableSchedules(isEnabled);
    if (isEnabled) this.#enable(runtime);
    else this.#disable(runtime);
  }

  /** Queues a task for each tick, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#options.manager.run((_crontab, ids) => this.#fire(ids), signal);
  }

  /**
   * Fires each of these subscriptions; an unknown one was cancelled while its tick was delivered.
   */
  #fire(ids: readonly string[]): void {
    for (const id of ids) {
      const subscription = this.#subscriptions.get(id);
      if (subscription !== undefined) this.#options.onTick(subscription.runtime, subscription.binding);
    }
  }

  #enable(runtime: HookRuntime): void {
    for (const binding of runtime.hook.config.schedule) {
      this.#lastId += 1;
      const id = String(this.#lastId);
      this.#subscriptions.set(id, { runtime, binding });
      this.#options.manager.add(binding.crontab, id);
    }
  }

  #disable(runtime: HookRuntime): void {
    for (const [id, subscription] of this.#subscriptions) {
      if (subscription.runtime !== runtime) continue;
      this.#subscriptions.delete(id);
      this.#options.manager.remove(subscription.binding.crontab, id);
    }
  }
}

export interface SchedulesParts {
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly metrics: Pick<OperatorMetrics, 'missedTicks'>;
  readonly router: Pick<TaskRouter, 'onScheduleTick'>;
}

/** Creates schedules on the clock of the host; nothing fires before `run`. */
export function createSchedules({ host, metrics, router }: SchedulesParts): Schedules {
  const manager = new ScheduleManager({
    clock: host.clock,
    log: componentLog(host, 'schedule'),
    onMissed: (crontab, ticks) => metrics.missedTicks(crontab, ticks),
  });
  return new Schedules({ manager, onTick: (runtime, binding) => router.onScheduleTick(runtime, binding) });
}
