/**
 * Names the process that responds, and reads what it uses. `bootId` is new at each start, so a client notices a restart
 * even if the pod keeps its name.
 */

import type { Clock } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { OperatorMetrics } from '../../metrics/operator-metrics.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import type { LeaseSettings } from '../../settings/lease-settings.ts';
import type { UiSettings } from '../../settings/ui-settings.ts';
import type { OperatorIdentity } from './api-route.ts';

/** The identity of this operator, and what its process has used since its start. */
export function operatorIdentity(
  {
    podName,
    namespace,
    isHaEnabled,
    clusterName,
  }: Pick<LeaseSettings, 'podName' | 'isHaEnabled'> &
    Pick<InstanceSettings, 'namespace'> &
    Pick<UiSettings, 'clusterName'>,
  { clock, version }: { readonly clock: Clock; readonly version: string },
  metrics: Pick<OperatorMetrics, 'eventLoopDelay'>,
  bootId: string,
): OperatorIdentity {
  // On the steady clock, so that a change of the system time does not change the uptime.
  const uptimeMs = process.uptime() * 1_000;
  const startedMs = clock.steadyMs() - uptimeMs;
  const startedAt = isoTime(clock.wallMs() - uptimeMs);
  return {
    version,
    bootId,
    clock,
    nowIso: () => isoTime(clock.wallMs()),
    replica: podName,
    namespace,
    cluster: clusterName,
    role: isHaEnabled ? 'leader' : 'alone',
    usage: () => {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return {
        startedAt,
        uptimeMs: Math.round(clock.steadyMs() - startedMs),
        cpuMs: Math.round((user + system) / 1_000),
        rssBytes: rss,
        heapUsedBytes: heapUsed,
        eventLoopDelay: metrics.eventLoopDelay,
      };
    },
  };
}
