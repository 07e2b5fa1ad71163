#!/usr/bin/env node
// Finds the Services labelled example=backend and hands them to the chart as values.
import { readFileSync, writeFileSync } from 'node:fs';

const CONFIG = {
  configVersion: 'v1',
  beforeHelm: 10,
  kubernetes: [
    {
      name: 'services',
      apiVersion: 'v1',
      kind: 'Service',
      labelSelector: { matchLabels: { example: 'backend' } },
      jqFilter: '{name: .metadata.name, namespace: .metadata.namespace, port: .spec.ports[0].port}',
      keepFullObjectsInMemory: false,
      // What exists at start is found by the beforeHelm run.
      executeHookOnSynchronization: false,
      includeSnapshotsFrom: ['services'],
    },
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const { snapshots } = JSON.parse(readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8')).at(-1);
  const backends = snapshots.services.map(({ filterResult }) => filterResult);
  const operation = { op: 'add', path: '/gateway/backends', value: backends };
  writeFileSync(process.env.VALUES_JSON_PATCH_PATH, JSON.stringify(operation));
  console.log(`${backends.length} backends`);
}
