import { expect, test } from 'vitest';
import type { Backend, World } from '../support/world.ts';
import { exampleWorld, read, remove, SOON } from './example-world.ts';

const INDEX = '/api/v1/namespaces/default/configmaps/example-index';
const LABELS = { example: 'watched' };

export function kubernetesEventHookTests(backend: () => Backend): void {
  test('kubernetes-event-hook: one hook logs each change, the other keeps an index of all objects', async () => {
    await using world = await exampleWorld(backend(), 'kubernetes-event-hook');
    const colors = `${world.namespace}/colors`;
    const key = `${world.namespace}/key`;
    try {
      await world.converge();
      await create(world, 'configmaps', 'colors', { data: { sky: 'blue' } });
      await world.log.untilPrinted(`Added ${colors} {"sky":"blue"}`);
      await world.merge('configmaps', 'colors', { metadata: { annotations: { not: 'watched' } } });
      await world.merge('configmaps', 'colors', { data: { sky: 'grey' } });
      await world.log.untilPrinted(`Modified ${colors} {"sky":"grey"}`);
      await create(world, 'secrets', 'key', {});
      await world.log.untilPrinted(`Group: configMaps [${colors}], secrets [${key}]`);
      await expect
        .poll(() => read(world, INDEX), SOON)
        .toMatchObject({ data: { configMaps: colors, secrets: key } });
      await remove(world, world.path('configmaps', 'colors'));
      await world.log.untilPrinted(`Deleted ${colors} {"sky":"grey"}`);
      // The other hook has snapshots of its own.
      await world.log.untilPrinted(`Group: configMaps [], secrets [${key}]`);
      world.clock.jump(3_600_000);
      await world.log.untilPrinted(`Schedule: configMaps [], secrets [${key}]`);
      const changes = world.log.printed.filter((line) => line.includes('{'));
      expect(changes.map((line) => line.split(' ')[0])).toEqual(['Added', 'Modified', 'Deleted']);
      expect(world.log.printed[0]).toBe('Group: configMaps [], secrets []');
    } finally {
      await remove(world, INDEX);
    }
  });
}

function create(world: World, plural: string, name: string, fields: object): Promise<void> {
  return world.create(plural, { ...fields, ...labelled(name) });
}

function labelled(name: string): { readonly metadata: { readonly name: string; readonly labels: object } } {
  return { metadata: { name, labels: LABELS } };
}
