import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note, report, sum } from './figures.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const EVENTS = 2_000;
const EVENTS_A_RUN = 100;
const WRITES_AT_ONCE = 16;

/**
 * A burst of events for one hook, all the way from the API server: a namespace with 2,000 objects begins to match a
 * binding. The reference is the cost of the same script alone, run once for every 100 events.
 */
export async function benchBurst(): Promise<void> {
  await using api = await startSandboxProcess();
  const { backend } = api;
  await using world = await World.create(backend, {
    flags: { 'log-level': 'info' },
  });
  await world.write('global-hooks', {
    'burst.sh': shHook(
      `
kubernetes:
- name: burst
  apiVersion: v1
  kind: Secret
  namespace: {labelSelector: {matchLabels: {burst: ${world.namespace}}}}
  executeHookOnSynchronization: false
  queue: burst`,
      'jq length "$BINDING_CONTEXT_PATH"',
    ),
  });
  await fill(world);
  await world.converge();
  const startMs = performance.now();
  const label = { metadata: { labels: { burst: world.namespace } } };
  await world.expect({
    method: 'PATCH',
    path: `/api/v1/namespaces/${world.namespace}`,
    body: label,
    contentType: 'application/merge-patch+json',
  });
  await world.log.until(() => sum(world.log.printed.map(Number)) >= EVENTS);
  const burstMs = performance.now() - startMs;
  const runs = EVENTS / EVENTS_A_RUN;
  const bareMs = await bareMsOf(world, runs);
  report(
    `burst of ${EVENTS} events to the end of its last run`,
    `${burstMs.toFixed(0)} ms`,
    `${bareMs.toFixed(0)} ms`,
    burstMs / bareMs,
    `<= 3 (reference: ${runs} bare runs of ${EVENTS_A_RUN} events each)`,
  );
  note(`  runs of the hook: ${world.log.printed.length}, of ${world.log.printed.join(', ')} events`);
}

async function fill(world: World): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < EVENTS) {
      next += 1;
      await world.create('secrets', { metadata: { name: `object-${next}` } });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}

/** Time of the script alone, on contexts such as the daemon writes. */
async function bareMsOf(world: World, runs: number): Promise<number> {
  const object = await world.get('secrets', 'object-1');
  const event = { binding: 'burst', type: 'Event', watchEvent: 'Added', object };
  const contextPath = join(world.directory, 'context.json');
  await writeFile(contextPath, JSON.stringify(Array.from({ length: EVENTS_A_RUN }, () => event)));
  const env = [`PATH=${process.env['PATH'] ?? ''}`, `BINDING_CONTEXT_PATH=${contextPath}`];
  return sum(bareRunsMs(join(world.directory, 'global-hooks', 'burst.sh'), env, runs));
}
