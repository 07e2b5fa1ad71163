#!/usr/bin/env node
// Restarts workloads when a ConfigMap that they name has changed.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/** Label of the ConfigMaps and workloads that take part. */
const LABEL = 'config-reloader';
/** Annotation of a workload: names of ConfigMaps in its namespace, separated by commas. */
const NAMES = 'config-reloader/config-maps';
/** Annotation we keep: the content the workload runs with. */
const CHECKSUM = 'config-reloader/checksum';
const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet'];

const COMMON = {
  labelSelector: { matchLabels: { [LABEL]: 'yes' } },
  group: 'workloads',
  queue: 'config-reloader',
  keepFullObjectsInMemory: false,
};
const CONFIG = {
  configVersion: 'v1',
  kubernetes: [
    {
      ...COMMON,
      name: 'ConfigMap',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      jqFilter:
        '{namespace: .metadata.namespace, name: .metadata.name, content: {data: .data, binaryData: .binaryData}}',
    },
    ...WORKLOADS.map((kind) => ({
      ...COMMON,
      name: kind,
      apiVersion: 'apps/v1',
      kind,
      executeHookOnEvent: ['Added', 'Modified'],
      jqFilter: `{namespace: .metadata.namespace, name: .metadata.name, names: .metadata.annotations["${NAMES}"], checksum: .metadata.annotations["${CHECKSUM}"]}`,
    })),
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const { snapshots } = JSON.parse(readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8')).at(-1);
  const results = (binding) => snapshots[binding].map(({ filterResult }) => filterResult);
  const contents = new Map(
    results('ConfigMap').map(({ namespace, name, content }) => [
      `${namespace}/${name}`,
      JSON.stringify(content),
    ]),
  );
  const patches = WORKLOADS.flatMap((kind) =>
    results(kind).flatMap((workload) => patchFor(kind, workload, contents)),
  );
  writeFileSync(process.env.KUBERNETES_PATCH_PATH, patches.map((patch) => JSON.stringify(patch)).join('\n'));
}

/** The patch that a workload needs, if it needs one. */
function patchFor(kind, { namespace, name, names, checksum }, contents) {
  const keys = (names ?? '').split(',').map((part) => `${namespace}/${part.trim()}`);
  // Nothing is named, or one is missing: a restart would only break what still runs.
  if (!keys.every((key) => contents.has(key))) return [];
  const current = checksumOf(keys.map((key) => contents.get(key)));
  if (checksum === current) return [];
  const annotations = { [CHECKSUM]: current };
  // A workload that is new to us runs with what is there already.
  const isNew = checksum === null;
  console.log(isNew ? `watching ${kind} ${namespace}/${name}` : `restarting ${kind} ${namespace}/${name}`);
  const template = isNew ? {} : { spec: { template: { metadata: { annotations } } } };
  return [
    {
      operation: 'MergePatch',
      apiVersion: 'apps/v1',
      kind,
      namespace,
      name,
      ignoreMissingObject: true,
      mergePatch: { metadata: { annotations }, ...template },
    },
  ];
}

function checksumOf(contents) {
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex').slice(0, 16);
}
