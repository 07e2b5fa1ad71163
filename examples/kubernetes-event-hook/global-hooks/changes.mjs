#!/usr/bin/env node
// Tells of every change of the data of ConfigMaps labelled example=watched.
import { readFileSync } from 'node:fs';

const CONFIG = {
  configVersion: 'v1',
  kubernetes: [
    {
      name: 'configMaps',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      labelSelector: { matchLabels: { example: 'watched' } },
      jqFilter: '{namespace: .metadata.namespace, name: .metadata.name, data: .data}',
      keepFullObjectsInMemory: false,
      executeHookOnSynchronization: false,
    },
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  // Several events that waited for the hook come in one run.
  for (const { watchEvent, filterResult } of JSON.parse(
    readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8'),
  )) {
    const { namespace, name, data } = filterResult;
    console.log(`${watchEvent} ${namespace}/${name} ${JSON.stringify(data)}`);
  }
}
