#!/usr/bin/env node
// Keeps ConfigMap example-index in namespace default: the names of all ConfigMaps and Secrets labelled example=watched.
import { readFileSync, writeFileSync } from 'node:fs';

const WATCHED = {
  apiVersion: 'v1',
  labelSelector: { matchLabels: { example: 'watched' } },
  jqFilter: '"\\(.metadata.namespace)/\\(.metadata.name)"',
  keepFullObjectsInMemory: false,
  // Changes of both kinds that come close together are one run.
  group: 'index',
};
const CONFIG = {
  configVersion: 'v1',
  kubernetes: [
    { ...WATCHED, name: 'configMaps', kind: 'ConfigMap' },
    { ...WATCHED, name: 'secrets', kind: 'Secret' },
  ],
  schedule: [{ name: 'every hour', crontab: '0 * * * *', includeSnapshotsFrom: ['configMaps', 'secrets'] }],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const contexts = JSON.parse(readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8'));
  const { type, snapshots } = contexts.at(-1);
  const names = (binding) => snapshots[binding].map(({ filterResult }) => filterResult).join(' ');
  const data = { configMaps: names('configMaps'), secrets: names('secrets') };
  console.log(`${type}: configMaps [${data.configMaps}], secrets [${data.secrets}]`);
  const metadata = { name: 'example-index', namespace: 'default' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  writeFileSync(process.env.KUBERNETES_PATCH_PATH, JSON.stringify({ operation: 'CreateOrUpdate', object }));
}
