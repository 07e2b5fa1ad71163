import { expect, test } from 'vitest';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

function part(name: string, v: string) {
  return { kind: 'ConfigMap', metadata: { name, labels: { example: 'part' } }, data: { v } };
}

export function debounceTests(backend: () => Backend): void {
  test('debounce: a burst of changes is one run with the last state of each object', async () => {
    await using world = await exampleWorld(backend(), 'debounce');
    await world.converge();
    const { held } = world.daemon.operator.router;
    const untilHeld = (contexts: number) => world.log.until(() => held.all[0]?.contexts === contexts);
    await world.create('configmaps', part('a', '1'));
    await world.create('configmaps', part('b', '1'));
    await untilHeld(2);
    world.clock.jump(1_999);
    await world.merge('configmaps', 'a', { data: { v: '2' } });
    await untilHeld(3);
    world.clock.jump(1_999);
    expect(world.log.printed).toEqual([]);
    world.clock.jump(1);
    await world.log.untilPrinted('one run for 2 changed objects');
    expect(held.all).toEqual([]);
  });
}
