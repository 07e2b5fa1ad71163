import { createHash } from 'node:crypto';
import { canonicalJson, isObject } from '../lib/json.ts';
import { type ApiState, timestamp } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { deleteByController, ensureObject, writeObject, writeStatus } from './controller-writes.ts';
import { type Fields, fieldsAt, listAt, numberAt, stringAt, valueAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';

type StatusOf = (object: ResourceObject, now: string) => Fields | undefined;

/** Statuses of workloads as if their pods ran at once; undefined leaves a status alone. */
const STATUSES: Readonly<Record<string, StatusOf>> = {
  'apps/deployments': (object, now) => ({
    observedGeneration: object.metadata.generation ?? 1,
    ...replicaCounts(object, ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas']),
    conditions: deploymentConditions(object, now),
  }),
  'apps/replicasets': (object) => ({
    ...replicaCounts(object, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    replicas: wantedReplicas(object),
    observedGeneration: object.metadata.generation ?? 1,
  }),
  '/replicationcontrollers': (object) => ({
    ...replicaCounts(object, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    replicas: wantedReplicas(object),
    observedGeneration: object.metadata.generation ?? 1,
  }),
  'apps/statefulsets': statefulSetStatus,
  'apps/daemonsets': (object) => ({
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
    desiredNumberScheduled: 1,
    numberReady: 1,
    observedGeneration: object.metadata.generation ?? 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
  }),
  'batch/jobs': jobStatus,
  '/pods': podStatus,
  '/persistentvolumeclaims': (object) => ({
    phase: 'Bound',
    accessModes: listAt(object, 'spec', 'accessModes'),
    capacity: fieldsAt(object, 'spec', 'resources', 'requests'),
  }),
  '/services': (object) =>
    stringAt(object, 'spec', 'type') === 'LoadBalancer'
      ? { loadBalancer: { ingress: [{ ip: '127.0.0.1', ipMode: 'VIP' }] } }
      : undefined,
  'policy/poddisruptionbudgets': (object) => ({
    observedGeneration: object.metadata.generation ?? 1,
    disruptionsAllowed: 1,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  }),
};

/** Plays scheduler and kubelet: every workload is ready at once, every job done. There are no pods behind them. */
export const workloadController: Controller = {
  name: 'workload',
  reconcile: (state, storage, object) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    if (storage === 'apps/deployments') rollOut(state, object);
    const status = STATUSES[storage]?.(object, timestamp(state.clock));
    if (status !== undefined) writeStatus(state, storage, object, status);
  },
};

function wantedReplicas(object: ResourceObject): number {
  return numberAt(object, 'spec', 'replicas') ?? 1;
}

/** The real status leaves out the counts that are zero. */
function replicaCounts(object: ResourceObject, fields: readonly string[]): Fields {
  const replicas = wantedReplicas(object);
  return replicas === 0 ? {} : Object.fromEntries(fields.map((field) => [field, replicas]));
}

function condition(
  object: ResourceObject,
  now: string,
  fields: { readonly type: string; readonly reason?: string; readonly message?: string },
): Fields {
  const known = listAt(object, 'status', 'conditions').find((item) => stringAt(item, 'type') === fields.type);
  const since = stringAt(known, 'lastTransitionTime') || now;
  return { status: 'True', lastTransitionTime: since, ...fields };
}

function deploymentConditions(object: ResourceObject, now: string): readonly Fields[] {
  const { name } = object.metadata;
  const conditions = [
    condition(object, now, {
      type: 'Available',
      reason: 'MinimumReplicasAvailable',
      message: 'Deployment has minimum availability.',
    }),
    condition(object, now, {
      type: 'Progressing',
      reason: 'NewReplicaSetAvailable',
      message: `ReplicaSet "${name}-${templateHash(object)}" has successfully progressed.`,
    }),
  ];
  return conditions.map((item) => ({ ...item, lastUpdateTime: item['lastTransitionTime'] }));
}

function statefulSetStatus(object: ResourceObject): Fields {
  const revision = `${object.metadata.name}-${templateHash(object)}`;
  return {
    observedGeneration: object.metadata.generation ?? 1,
    replicas: wantedReplicas(object),
    ...replicaCounts(object, ['readyReplicas', 'currentReplicas', 'updatedReplicas']),
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: wantedReplicas(object),
  };
}

function jobStatus(object: ResourceObject, now: string): Fields | undefined {
  if (listAt(object, 'status', 'conditions').length > 0) return undefined;
  if (valueAt(object, 'spec', 'suspend') === true) return undefined;
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  }));
  const succeeded = numberAt(object, 'spec', 'completions') ?? 1;
  return { conditions, startTime: now, completionTime: now, succeeded, terminating: 0, ready: 0 };
}

function podStatus(object: ResourceObject, now: string): Fields | undefined {
  if (stringAt(object, 'status', 'phase') !== 'Pending') return undefined;
  const isService = stringAt(object, 'spec', 'restartPolicy') === 'Always';
  const types = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  const conditions = types.map((type) => {
    const isTrue = isService || type === 'Initialized' || type === 'PodScheduled';
    return { type, status: isTrue ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: now };
  });
  const running = { running: { startedAt: now } };
  const done = { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } };
  const containerStatuses = listAt(object, 'spec', 'containers').map((container) => ({
    name: stringAt(container, 'name'),
    state: isService ? running : done,
    lastState: {},
    ready: isService,
    restartCount: 0,
    image: stringAt(container, 'image'),
    imageID: '',
    started: isService,
  }));
  return {
    phase: isService ? 'Running' : 'Succeeded',
    conditions,
    startTime: now,
    containerStatuses,
    qosClass: 'BestEffort',
  };
}

function templateHash(object: ResourceObject): string {
  const text = canonicalJson(valueAt(object, 'spec', 'template') ?? {});
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

const REVISION = 'deployment.kubernetes.io/revision';
const HASH_LABEL = 'pod-template-hash';

/** Keeps the ReplicaSets of a Deployment: one for its template of now, older ones scaled to nothing. */
function rollOut(state: ApiState, deployment: ResourceObject): void {
  const hash = templateHash(deployment);
  const owned = ownedReplicaSets(state, deployment);
  const currentName = `${deployment.metadata.name}-${hash}`;
  const current = owned.find((set) => set.metadata.name === currentName);
  const revisions = owned.map((set) => Number(set.metadata.annotations?.[REVISION] ?? 0));
  const highest = Math.max(0, ...revisions);
  const currentRevision = Number(current?.metadata.annotations?.[REVISION] ?? 0);
  const revision = current !== undefined && currentRevision === highest ? highest : highest + 1;
  if (current === undefined) ensureObject(state, newReplicaSet(deployment, hash, revision));
  else scaleReplicaSet(state, current, wantedReplicas(deployment), revision);
  const older = owned.filter((set) => set.metadata.name !== currentName);
  for (const set of older) scaleReplicaSet(state, set, 0, Number(set.metadata.annotations?.[REVISION] ?? 0));
  pruneReplicaSets(state, older, numberAt(deployment, 'spec', 'revisionHistoryLimit') ?? 10);
  annotateRevision(state, deployment, revision);
}

function ownedReplicaSets(state: ApiState, deployment: ResourceObject): readonly ResourceObject[] {
  const sets = [...state.store.list('apps/replicasets', deployment.metadata.namespace)];
  return sets.filter((set) =>
    (set.metadata.ownerReferences ?? []).some(({ uid }) => uid === deployment.metadata.uid),
  );
}

function newReplicaSet(deployment: ResourceObject, hash: string, revision: number): ResourceObject {
  const { name, namespace, uid = '' } = deployment.metadata;
  const template = fieldsAt(deployment, 'spec', 'template');
  const labels = { ...fieldsAt(template, 'metadata', 'labels'), [HASH_LABEL]: hash };
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const matchLabels = { ...fieldsAt(deployment, 'spec', 'selector', 'matchLabels'), [HASH_LABEL]: hash };
  return {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: textFields(labels),
      annotations: { [REVISION]: String(revision) },
      ownerReferences: [owner],
    },
    spec: {
      replicas: wantedReplicas(deployment),
      selector: { ...fieldsAt(deployment, 'spec', 'selector'), matchLabels },
      template: { ...template, metadata: { ...fieldsAt(template, 'metadata'), labels } },
    },
  };
}

function textFields(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)]));
}

function scaleReplicaSet(state: ApiState, set: ResourceObject, replicas: number, revision: number): void {
  const annotations = { ...set.metadata.annotations, [REVISION]: String(revision) };
  const spec = { ...fieldsAt(set, 'spec'), replicas };
  writeObject(state, 'apps/replicasets', set, { ...set, metadata: { ...set.metadata, annotations }, spec });
}

function pruneReplicaSets(state: ApiState, older: readonly ResourceObject[], limit: number): void {
  const byRevision = older.toSorted(
    (left, right) =>
      Number(right.metadata.annotations?.[REVISION] ?? 0) -
      Number(left.metadata.annotations?.[REVISION] ?? 0),
  );
  for (const set of byRevision.slice(limit)) deleteByController(state, 'apps/replicasets', set);
}

function annotateRevision(state: ApiState, deployment: ResourceObject, revision: number): void {
  const key = `${deployment.metadata.namespace ?? ''}/${deployment.metadata.name}`;
  const current = state.store.get('apps/deployments', key);
  if (current === undefined || !isObject(current['spec'])) return;
  const annotations = { ...current.metadata.annotations, [REVISION]: String(revision) };
  writeObject(state, 'apps/deployments', current, {
    ...current,
    metadata: { ...current.metadata, annotations },
  });
}
