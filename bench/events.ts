import { join } from 'node:path';
import { sandboxBackend } from '../test/support/backends.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { eventLatenciesMs } from './event-latencies.ts';
import { percentile, report } from './figures.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';

const EVENTS = 200;

/**
 * Time from the API server's acknowledgement of a change to the first line of the hook, against the time a bare loop
 * needs to run the same script. The hook's first line is counted when it
 * arrives in the daemon's log, so the figure holds the way back too.
 */
export async function benchEvents(): Promise<void> {
  await using backend = await sandboxBackend();
  await using world = await World.create(backend, { flags: { 'log-level': 'info' } });
  await world.create('configmaps', { metadata: { name: 'counter' } });
  await world.write('global-hooks', {
    'event.sh': shHook(
      `
kubernetes:
- name: counter
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [counter]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  keepFullObjectsInMemory: false
  jqFilter: .data.n`,
      'echo started',
    ),
  });
  await world.converge();
  const latenciesMs = await eventLatenciesMs(world, EVENTS);
  const path = join(world.directory, 'global-hooks', 'event.sh');
  const bareMs = bareRunsMs(path, [`PATH=${process.env['PATH'] ?? ''}`], EVENTS);
  for (const [name, share, aimMs] of [
    ['p50', 0.5, 10],
    ['p99', 0.99, 50],
  ] as const) {
    const ours = percentile(latenciesMs, share);
    const bare = percentile(bareMs, share);
    report(
      `event acknowledged to first line of the hook, ${name}`,
      `${ours.toFixed(2)} ms`,
      `${bare.toFixed(2)} ms`,
      ours / bare,
      `<= reference + ${aimMs} ms (is + ${(ours - bare).toFixed(1)})`,
    );
  }
}
