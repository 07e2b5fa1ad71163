#!/usr/bin/env node
// Keeps the default objects in every namespace labelled namespace-defaults=yes, and in no other.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const NAME = 'namespace-defaults';
const LABELS = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/managed-by': 'addon-operator' };
/** By the key in the values that holds the spec, which is also the name of the binding. */
const KINDS = {
  limitRange: { apiVersion: 'v1', kind: 'LimitRange' },
  networkPolicy: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
};

// All bindings stand in one group, so that every run sees all snapshots and compares what is with what should be.
const COMMON = {
  group: 'namespaces',
  queue: NAME,
  keepFullObjectsInMemory: false,
  // beforeHelm follows at once.
  executeHookOnSynchronization: false,
};
const CONFIG = {
  configVersion: 'v1',
  // When the module is enabled, and after each change of its values.
  beforeHelm: 10,
  afterDeleteHelm: 10,
  kubernetes: [
    {
      ...COMMON,
      name: 'namespaces',
      apiVersion: 'v1',
      kind: 'Namespace',
      labelSelector: { matchLabels: { [NAME]: 'yes' } },
      jqFilter: '{name: .metadata.name, isActive: (.metadata.deletionTimestamp == null)}',
    },
    ...Object.entries(KINDS).map(([name, type]) => ({
      ...COMMON,
      ...type,
      name,
      labelSelector: { matchLabels: LABELS },
      jqFilter: '{namespace: .metadata.namespace, name: .metadata.name, spec: .spec}',
      executeHookOnEvent: ['Modified', 'Deleted'],
    })),
  ],
};

if (process.argv[2] === '--config') console.log(JSON.stringify(CONFIG));
else run();

function run() {
  const context = readJson('BINDING_CONTEXT_PATH').at(-1);
  const specs = readJson('VALUES_PATH').namespaceDefaults;
  const wanted =
    context.binding === 'afterDeleteHelm'
      ? []
      : results(context, 'namespaces').filter(({ isActive }) => isActive);
  const operations = Object.keys(KINDS).flatMap((key) => {
    const spec = specs[key] ?? undefined;
    const namespaces = spec === undefined ? [] : wanted.map(({ name }) => name);
    return reconcile(KINDS[key], spec, namespaces, results(context, key));
  });
  writeFileSync(process.env.KUBERNETES_PATCH_PATH, operations.map((item) => JSON.stringify(item)).join('\n'));
  for (const { operation, object, kind = object.kind, namespace = object.metadata.namespace } of operations) {
    console.log(`${operation} ${kind} in namespace ${namespace}`);
  }
}

/** What makes the objects of one kind those that the namespaces should have. */
function reconcile(type, spec, namespaces, existing) {
  const isRight = (namespace) =>
    existing.some((object) => object.namespace === namespace && isDeepStrictEqual(object.spec, spec));
  const metadata = (namespace) => ({ namespace, name: NAME, labels: LABELS });
  return [
    ...namespaces
      .filter((namespace) => !isRight(namespace))
      .map((namespace) => ({
        operation: 'CreateOrUpdate',
        object: { ...type, metadata: metadata(namespace), spec },
      })),
    ...existing
      .filter(({ namespace }) => !namespaces.includes(namespace))
      .map(({ namespace, name }) => ({ operation: 'DeleteInBackground', ...type, namespace, name })),
  ];
}

function results(context, binding) {
  return context.snapshots[binding].map(({ filterResult }) => filterResult);
}

function readJson(variable) {
  return JSON.parse(readFileSync(process.env[variable], 'utf8'));
}
