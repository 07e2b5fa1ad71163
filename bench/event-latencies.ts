import { performance } from 'node:perf_hooks';
import type { World } from '../test/support/world.ts';

/**
 * For each change of the ConfigMap `counter`, the time from the API server's acknowledgement to the next line that a hook
 * prints, in milliseconds; the queue is empty again before the next change.
 */
export async function eventLatenciesMs(world: World, events: number): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  for (let event = 0; event < events; event += 1) {
    const printed = world.log.printed.length;
    await world.merge('configmaps', 'counter', { data: { n: String(event) } });
    const acknowledgedMs = performance.now();
    await world.log.until(() => world.log.printed.length > printed);
    latenciesMs.push(performance.now() - acknowledgedMs);
    await world.daemon.operator.router.main.untilEmpty();
  }
  return latenciesMs;
}
