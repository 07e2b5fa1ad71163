import { expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import type { Controller } from './controller-loop.ts';

function recorder(): { readonly controller: Controller; readonly heard: string[] } {
  const heard: string[] = [];
  const controller: Controller = {
    name: 'recorder',
    reconcile: (_state, storage, object) => heard.push(`${storage} ${object.metadata.name}`),
    removed: (_state, storage, object) => heard.push(`${storage} ${object.metadata.name} gone`),
  };
  return { controller, heard };
}

test('a controller sees every object at the start, then each change', async () => {
  const lab = new ApiLab();
  const { controller, heard } = recorder();
  lab.startControllers([controller]);
  await lab.settle();
  lab.create('/api/v1/nodes', { metadata: { name: 'n' } });
  await lab.settle();
  lab.call('DELETE', '/api/v1/nodes/n');
  await lab.settle();
  expect(heard).toEqual(['/namespaces default', '/nodes n', '/nodes n gone']);
});

test('a controller sees the latest state, and nothing of what is gone by then', async () => {
  const lab = new ApiLab();
  const { controller, heard } = recorder();
  lab.startControllers([controller]);
  lab.create('/api/v1/nodes', { metadata: { name: 'n' } });
  lab.call('DELETE', '/api/v1/nodes/n');
  await lab.settle();
  expect(heard).toEqual(['/namespaces default', '/nodes n gone']);
});

test('a controller that fails does not keep the others from their work', async () => {
  const lab = new ApiLab();
  const { controller, heard } = recorder();
  const broken: Controller = {
    name: 'broken',
    reconcile: () => {
      throw new Error('defect');
    },
  };
  lab.startControllers([broken, controller]);
  await lab.settle();
  expect(heard).toEqual(['/namespaces default']);
});

test('a stopped loop does nothing more', async () => {
  const lab = new ApiLab();
  const { controller, heard } = recorder();
  const loop = lab.startControllers([controller]);
  loop.stop();
  lab.create('/api/v1/nodes', { metadata: { name: 'n' } });
  await lab.settle();
  expect(heard).toEqual([]);
});
