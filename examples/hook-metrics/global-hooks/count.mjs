#!/usr/bin/env node
// Counts ConfigMaps labelled example=counted, by namespace, as metrics.
import { readFileSync, writeFileSync } from 'node:fs';

const CONFIG = {
  configVersion: 'v1',
  kubernetes: [
    {
      name: 'configMaps',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      labelSelector: { matchLabels: { example: 'counted' } },
      jqFilter: '{namespace: .metadata.namespace, entries: ((.data // {}) | length)}',
      keepFullObjectsInMemory: false,
      group: 'metrics',
    },
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const { snapshots } = JSON.parse(readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8')).at(-1);
  const items = snapshots.configMaps.map(({ filterResult }) => filterResult);
  const group = 'config maps';
  const operations = [
    // Series of the group that are not set again disappear: so do namespaces without ConfigMaps.
    { group, action: 'expire' },
    ...[...new Set(items.map(({ namespace }) => namespace))].map((namespace) => ({
      group,
      name: 'example_config_maps',
      action: 'set',
      value: items.filter((item) => item.namespace === namespace).length,
      labels: { namespace },
    })),
    ...items.map(({ entries }) => ({
      group,
      name: 'example_config_map_entries',
      action: 'observe',
      value: entries,
      buckets: [1, 10, 100],
      labels: {},
    })),
    { group, name: 'example_counts_total', action: 'add', value: 1, labels: {} },
  ];
  writeFileSync(process.env.METRICS_PATH, operations.map((item) => JSON.stringify(item)).join('\n'));
}
