import { beforeAll, expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { leaseOf, Replicas } from '../support/replicas.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { untilNoProcesses } from '../support/world-processes.ts';

describeCluster('a daemon with an uncaught error', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-D7
  test('logs it once, ends its hooks, releases the lease and exits with 1', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'a.sh': shHook('onStartup: 1', '(trap "" TERM; sleep 600) &\necho "hook runs"; sleep 600'),
      },
    });
    const replicas = await Replicas.on(world);
    await using leader = await replicas.start(1);
    await leader.log.untilPrinted('hook runs');
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: expect.stringContaining('pod-1') });
    process.kill(leader.pid, 'SIGUSR2');
    expect(await leader.exited).toEqual({ code: 1, signal: null });
    const fatal = leader.log.records.filter(({ level }) => level === 'fatal');
    expect(fatal).toMatchObject([
      {
        error: 'planted error',
        stacktrace: expect.arrayContaining([expect.stringContaining('throw-on-signal.ts')]),
      },
    ]);
    await untilNoProcesses(world);
    expect((await leaseOf(world))['holderIdentity'] ?? '').toBe('');
  });
});
