import { createHash } from 'node:crypto';
import { canonicalJson } from '@addon-operator/json';
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
  'apps/replicasets': replicaSetStatus,
  '/replicationcontrollers': replicaSetStatus,
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
  '/persistentvolumes': (object) =>
    stringAt(object, 'status', 'phase') === 'Pending' ? { phase: 'Available' } : undefined,
  'policy/poddisruptionbudgets': (object, now) => {
    const observedGeneration = object.metadata.generation ?? 1;
    return {
      observedGeneration,
      disruptionsAllowed: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      conditions: [
        {
          ...condition(object, now, { type: 'DisruptionAllowed', reason: 'SufficientPods', message: '' }),
          observedGeneration,
        },
      ],
    };
  },
};

/** The status that a workload should have now, with times of `now`; undefined when its status is none of ours. */
export function workloadStatus(storage: string, object: ResourceObject, now: string): Fields | undefined {
  return STATUSES[storage]?.(object, now);
}

/** Replicas that a workload requests. */
export function wantedReplicas(object: ResourceObject): number {
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

function replicaSetStatus(object: ResourceObject): Fields {
  return {
    ...replicaCounts(object, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    replicas: wantedReplicas(object),
    observedGeneration: object.metadata.generation ?? 1,
  };
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
  const isSuspended = valueAt(object, 'spec', 'suspend') === true;
  const [known] = listAt(object, 'status', 'conditions');
  const wasSuspended = stringAt(known, 'type') === 'Suspended' && stringAt(known, 'status') === 'True';
  if (isSuspended) return known === undefined ? suspendedJobStatus(now) : undefined;
  if (known !== undefined && !wasSuspended) return undefined;
  const resumed = jobCondition('Suspended', 'False', 'JobResumed', 'Job resumed', now);
  const done = ['SuccessCriteriaMet', 'Complete'].map((type) =>
    jobCondition(type, 'True', 'CompletionsReached', 'Reached expected number of succeeded pods', now),
  );
  const succeeded = numberAt(object, 'spec', 'completions') ?? 1;
  const isIndexed = stringAt(object, 'spec', 'completionMode') === 'Indexed';
  return {
    conditions: wasSuspended ? [resumed, ...done] : done,
    startTime: now,
    completionTime: now,
    succeeded,
    ...(isIndexed && { completedIndexes: completedIndexes(succeeded) }),
    terminating: 0,
    uncountedTerminatedPods: {},
    ready: 0,
  };
}

function jobCondition(type: string, status: string, reason: string, message: string, now: string): Fields {
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}

function suspendedJobStatus(now: string): Fields {
  const condition = jobCondition('Suspended', 'True', 'JobSuspended', 'Job suspended', now);
  return { conditions: [condition], terminating: 0, uncountedTerminatedPods: {}, ready: 0 };
}

/** All of them, in the notation of the API: ranges of three and more have a hyphen. */
function completedIndexes(count: number): string {
  return count > 2 ? `0-${count - 1}` : [...Array.from({ length: count }).keys()].join(',');
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

/** Distinguishes pod templates, as the suffix of a ReplicaSet's name. */
export function templateHash(object: ResourceObject): string {
  const text = canonicalJson(valueAt(object, 'spec', 'template') ?? {});
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
