import { defineHook } from 'addon-operator/sdk';
import { countBy } from './lib/count-by.ts';

/** Counts the ConfigMaps labelled `example=counted` of each namespace, for the chart and as metrics. */
export default defineHook(
  {
    beforeHelm: 1,
    kubernetes: [
      {
        name: 'counted',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        labelSelector: { matchLabels: { example: 'counted' } },
        jqFilter: '.metadata.namespace',
        keepFullObjectsInMemory: false,
        includeSnapshotsFrom: ['counted'],
      },
    ],
  },
  (input) => {
    const found = input.contexts.at(-1)?.snapshots.counted ?? [];
    const counts = countBy(
      found.flatMap(({ filterResult }) => (typeof filterResult === 'string' ? filterResult : [])),
    );
    input.values.set('inventory.counts', counts);
    for (const [namespace, count] of Object.entries(counts))
      input.metrics.set('inventory_config_maps', count, { namespace }, { group: 'inventory' });
    input.log.info('inventory taken', { count: found.length });
  },
);
