import { expect, test } from 'vitest';
import type { Backend, World } from '../../support/world.ts';
import { hookSetWorld, mergeAt, requireTools, withNamespace } from './catalogue-world.ts';

export function monitorNamespacesTests(backend: () => Backend): void {
  test('102-monitor-namespaces: created, labelled and deleted namespaces are reported, annotated ones are not', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using world = await hookSetWorld(backend(), '102-monitor-namespaces');
    await world.converge();
    expect(world.log.printed.filter((line) => line === 'Got Synchronization event')).toHaveLength(1);
    await expectNamespaceLines(world);
  });
}

/** Creates, annotates, labels and deletes a namespace, and expects a line for each but the annotation. */
export async function expectNamespaceLines(world: World): Promise<void> {
  const name = `${world.namespace}-watched`;
  await withNamespace(world, name, async (path) => {
    await world.log.untilPrinted(`Namespace ${name} was created`);
    await mergeAt(world, path, { metadata: { annotations: { note: 'seen by nobody' } } });
    await mergeAt(world, path, { metadata: { labels: { team: 'blue' } } });
    await world.log.untilPrinted(`Namespace ${name} labels were modified`);
  });
  await world.log.untilPrinted(`Namespace ${name} was deleted`);
  const lines = world.log.printed.filter((line) => line.includes(`${name} `));
  expect(lines.filter((line) => line.endsWith('was created'))).toHaveLength(1);
  expect(lines.filter((line) => line.endsWith('was deleted'))).toHaveLength(1);
}
