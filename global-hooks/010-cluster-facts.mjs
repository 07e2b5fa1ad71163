#!/usr/bin/env node
// Facts about the cluster as global values, for the charts of all modules: .Values.global.clusterFacts
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

// The snapshots are kept up to date, but no change runs the hook: each change of a global value reloads all modules,
// so a cluster in motion is looked at once in five minutes.
const SNAPSHOT_ONLY = {
  apiVersion: 'v1',
  executeHookOnSynchronization: false,
  executeHookOnEvent: [],
  keepFullObjectsInMemory: false,
};
const CONFIG = {
  configVersion: 'v1',
  beforeAll: 10,
  schedule: [
    { name: 'every five minutes', crontab: '*/5 * * * *', includeSnapshotsFrom: ['nodes', 'namespaces'] },
  ],
  kubernetes: [
    { ...SNAPSHOT_ONLY, name: 'nodes', kind: 'Node', jqFilter: '.status.nodeInfo.kubeletVersion' },
    { ...SNAPSHOT_ONLY, name: 'namespaces', kind: 'Namespace', jqFilter: '.metadata.name' },
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const { snapshots } = readJson('BINDING_CONTEXT_PATH').at(-1);
  const kubeletVersions = snapshots.nodes.map(({ filterResult }) => filterResult);
  const facts = {
    nodes: snapshots.nodes.length,
    namespaces: snapshots.namespaces.length,
    kubeletVersions: [...new Set(kubeletVersions)]
      .filter((version) => version !== null)
      .sort((a, b) => a.localeCompare(b)),
  };
  if (isDeepStrictEqual(readJson('VALUES_PATH').global.clusterFacts, facts)) return;
  const operation = { op: 'add', path: '/global/clusterFacts', value: facts };
  writeFileSync(process.env.VALUES_JSON_PATCH_PATH, JSON.stringify(operation));
  console.log(`cluster facts: ${JSON.stringify(facts)}`);
}

function readJson(variable) {
  return JSON.parse(readFileSync(process.env[variable], 'utf8'));
}
