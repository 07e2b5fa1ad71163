import { expect, test } from 'vitest';
import type { Backend, World } from '../../support/world.ts';
import { hookSetWorld, requireTools } from './catalogue-world.ts';

export function monitorPodsTests(backend: () => Backend): void {
  test('101-monitor-pods: a new Pod is reported, existing Pods and a changed label are not', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using world = await hookSetWorld(backend(), '101-monitor-pods');
    await createPod(world, `before-${world.namespace}`);
    await world.converge();
    await createPod(world, `pod-${world.namespace}`);
    await world.log.untilPrinted(`Pod 'pod-${world.namespace}' added`);
    for (const name of [`before-${world.namespace}`, `pod-${world.namespace}`]) {
      await world.merge('pods', name, { metadata: { labels: { changed: 'yes' } } });
    }
    await createPod(world, `last-${world.namespace}`);
    await world.log.untilPrinted(`Pod 'last-${world.namespace}' added`);
    const ours = world.log.printed.filter((line) => line.includes(world.namespace));
    expect(ours).toEqual([`Pod 'pod-${world.namespace}' added`, `Pod 'last-${world.namespace}' added`]);
  });
}

async function createPod(world: World, name: string): Promise<void> {
  const spec = { containers: [{ name: 'main', image: 'busybox' }] };
  const pod = { kind: 'Pod', metadata: { name }, spec };
  await world.create('pods', pod);
}
