import type { Fields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

/** Status of a new object before any controller has seen it, where it is not just empty. */
const INITIAL: Readonly<Record<string, Fields>> = {
  DaemonSet: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  HorizontalPodAutoscaler: { desiredReplicas: 0, currentMetrics: null },
  Ingress: { loadBalancer: {} },
  PersistentVolume: { phase: 'Pending' },
  PersistentVolumeClaim: { phase: 'Pending' },
  Pod: { phase: 'Pending' },
  PodDisruptionBudget: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  ReplicaSet: { replicas: 0 },
  ReplicationController: { replicas: 0 },
  Service: { loadBalancer: {} },
  StatefulSet: { replicas: 0, availableReplicas: 0 },
};

/** A new built-in object with the status that it starts with; one without status is returned as it is. */
export function withInitialStatus(kind: ServedKind, object: ResourceObject): ResourceObject {
  if (kind.isCustom || !kind.hasStatus || object['status'] !== undefined) return object;
  return { ...object, status: INITIAL[kind.kind] ?? {} };
}
