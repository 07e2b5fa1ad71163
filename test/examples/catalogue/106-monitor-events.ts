import { expect, test } from 'vitest';
import type { Backend } from '../../support/world.ts';
import {
  cataloguePath,
  DirectoryCopy,
  failures,
  hookSetWorld,
  requireTools,
  withNamespace,
} from './catalogue-world.ts';

const NAMESPACE = 'example-monitor-events';
const EVENTS = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`;

export function monitorEventsTests(backend: () => Backend): void {
  test('106-monitor-events: events of one namespace are printed, each as one record', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using world = await hookSetWorld(backend(), '106-monitor-events');
    await withNamespace(world, NAMESPACE, async () => {
      await world.converge();
      const body = event(NAMESPACE, 'failed-pod.1');
      await world.expect({ method: 'POST', path: EVENTS, body });
      await world.log.untilPrinted('Got Event:');
      await world.log.until((records) => records.some((record) => record['hook_reason'] === 'Failed'));
      const printed = world.log.records.find((record) => record['hook_reason'] === 'Failed');
      expect(printed).toMatchObject({ hook_kind: 'Event', hook_metadata: { name: 'failed-pod.1' } });
    });
  });

  test('106-monitor-events: with a removed API version the binding is retried, and the daemon continues', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using hooks = await DirectoryCopy.of(cataloguePath('106-monitor-events', 'hooks'));
    await hooks.replace('events-hook.sh', 'events.k8s.io/v1', 'events.k8s.io/v1beta1');
    await using world = await hookSetWorld(backend(), '106-monitor-events', {
      directories: { globalHooks: hooks.path },
    });
    await world.start();
    const delays = await failures(world, 3, 'is not supported by cluster');
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
    const health = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/healthz`);
    expect(health.status).toBe(200);
  });
}

function event(namespace: string, name: string): object {
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: { name, namespace },
    eventTime: '2026-01-02T03:04:05.000000Z',
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
    action: 'Start',
    reason: 'Failed',
    type: 'Warning',
    regarding: { apiVersion: 'v1', kind: 'Pod', name: 'failed-pod', namespace },
  };
}
