import { expect, test, vi } from 'vitest';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

/** Nothing is logged for events that are held back. */
const WAIT = { timeout: 60_000, interval: 50 };

function part(name: string, v: string) {
  return { kind: 'ConfigMap', metadata: { name, labels: { example: 'part' } }, data: { v } };
}

export function debounceTests(backend: () => Backend): void {
  test('debounce: each object of a burst is in a run, and nothing stays held back', async () => {
    await using world = await exampleWorld(backend(), 'debounce');
    await world.converge();
    const { held } = world.daemon.operator.router;
    await world.create('configmaps', part('a', '1'));
    await world.create('configmaps', part('b', '1'));
    const seen = (): number =>
      world.log.printed.reduce((sum, line) => sum + Number(/for (\d+) changed/.exec(line)?.[1] ?? 0), 0);
    // Where the machine is slow, the events may be in two runs.
    await vi.waitFor(() => expect(held.all.reduce((sum, run) => sum + run.contexts, seen())).toBe(2), WAIT);
    world.clock.jump(2_000);
    await world.log.until(() => seen() === 2);
    expect(held.all).toEqual([]);
  });
}
