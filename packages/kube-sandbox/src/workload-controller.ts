import { isObject } from '@addon-operator/json';
import { type ApiState, timestamp } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { deleteByController, ensureObject, writeObject, writeStatus } from './controller-writes.ts';
import { type Fields, fieldsAt, numberAt } from './json-access.ts';
import { objectKey, type ResourceObject } from './resource-object.ts';
import { templateHash, wantedReplicas, workloadStatus } from './workload-status.ts';

/** Plays scheduler and kubelet: every workload is ready at once, every job done. There are no pods behind them. */
export const workloadController: Controller = {
  name: 'workload',
  reconcile: (state, storage, object) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    if (storage === 'apps/deployments') rollOut(state, object);
    const status = workloadStatus(storage, object, timestamp(state.clock));
    if (status !== undefined) writeStatus(state, storage, object, status);
  },
};

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
      labels: stringFields(labels),
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

function stringFields(fields: Fields): Readonly<Record<string, string>> {
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
  const key = objectKey(deployment.metadata.namespace, deployment.metadata.name);
  const current = state.store.get('apps/deployments', key);
  if (current === undefined || !isObject(current['spec'])) return;
  const annotations = { ...current.metadata.annotations, [REVISION]: String(revision) };
  writeObject(state, 'apps/deployments', current, {
    ...current,
    metadata: { ...current.metadata, annotations },
  });
}
