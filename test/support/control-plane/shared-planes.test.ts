import { expect, test } from 'vitest';
import { SharedPlanes, sharedPlane } from './shared-planes.ts';

function access(serverUrl: string) {
  return { serverUrl, caFile: 'ca', certFile: 'cert', keyFile: 'key' };
}

/** Control planes that are but a name; those whose start fails have none. */
function fakePlanes(...failures: readonly (string | undefined)[]) {
  const said: string[] = [];
  let count = 0;
  async function start() {
    const failure = failures[count];
    count += 1;
    const name = `plane ${count}`;
    said.push(`start ${name}`);
    if (failure !== undefined) throw new Error(failure);
    return {
      access: access(name),
      kubeconfigPath: name,
      stop: async () => void said.push(`stop ${name}`),
    };
  }
  return { start, said };
}

test('a control plane starts at the first request of its worker, once, and another for another worker', async () => {
  const { start, said } = fakePlanes();
  await using planes = await SharedPlanes.serve(start);
  expect(said).toEqual([]);
  const [first, again] = await Promise.all([sharedPlane(planes.url, 1), sharedPlane(planes.url, 1)]);
  expect(first).toEqual({ access: access('plane 1'), kubeconfigPath: 'plane 1' });
  expect(again).toEqual(first);
  expect((await sharedPlane(planes.url, 2)).kubeconfigPath).toBe('plane 2');
  expect(said).toEqual(['start plane 1', 'start plane 2']);
});

test('a control plane that does not start is an error with the reason, and the next test tries again', async () => {
  const { start } = fakePlanes('the port is taken');
  await using planes = await SharedPlanes.serve(start);
  await expect(sharedPlane(planes.url, 3)).rejects.toThrow(
    'There is no control plane for worker 3: the port is taken',
  );
  expect((await sharedPlane(planes.url, 3)).kubeconfigPath).toBe('plane 2');
});

test('those that run are stopped, and start again on request', async () => {
  const { start, said } = fakePlanes('the port is taken');
  {
    await using planes = await SharedPlanes.serve(start);
    await sharedPlane(planes.url, 1).catch(() => undefined);
    await sharedPlane(planes.url, 1);
    await planes.stopAll();
    expect(said).toEqual(['start plane 1', 'start plane 2', 'stop plane 2']);
    await sharedPlane(planes.url, 1);
  }
  expect(said.slice(3)).toEqual(['start plane 3', 'stop plane 3']);
});
