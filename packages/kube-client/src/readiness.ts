// Readiness of objects by the rules of kstatus, for waiting on a release and for hooks that wait for a
// module. Pure: an object goes in, the reason why it is not ready comes out. General rules come first
// (deletion, observed generation, conditions), then those of the kind.

import { fieldsOf, isObject } from '@addon-operator/json';
import type { KubeObject } from './kube-object.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Why an object in the cluster is not ready, by the rules of kstatus
 * (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus); undefined when it is.
 */
export function whyNotReady(object: KubeObject): string | undefined {
  const { metadata, kind, apiVersion } = object;
  if (metadata['deletionTimestamp'] !== undefined) return 'it is being deleted';
  const status = fieldsOf(object['status']);
  const observed = status['observedGeneration'];
  if (typeof observed === 'number' && observed !== metadata['generation'])
    return 'its controller has not observed the latest generation yet';
  const general = byConditions(status);
  if (general !== undefined) return general;
  const group = (apiVersion ?? '').split('/').slice(0, -1).join('/');
  const rule = RULES[`${group}/${kind}`];
  return rule?.(fieldsOf(object['spec']), status, object);
}

/** The rule of one kind; undefined when the object is ready. */
type Rule = (spec: Fields, status: Fields, object: KubeObject) => string | undefined;

/** By group and kind. The order of the checks within a rule is that of kstatus, so that messages agree. */
const RULES: Readonly<Record<string, Rule>> = {
  'apps/Deployment': (spec, status) => {
    if (conditionOf(status, 'Progressing')?.['reason'] === 'ProgressDeadlineExceeded')
      return 'its progress deadline is exceeded';
    const refused = conditionOf(status, 'ReplicaFailure');
    if (refused?.['status'] === 'True') return `its pods are refused: ${wordOf(refused['message'])}`;
    const wanted = numberOf(spec['replicas'], 1);
    return (
      fewer(status, 'updatedReplicas', wanted, 'updated') ??
      more(status, numberOf(status['updatedReplicas'], 0)) ??
      fewer(status, 'availableReplicas', wanted, 'available') ??
      fewer(status, 'readyReplicas', wanted, 'ready') ??
      unseen(status, wanted)
    );
  },
  'apps/ReplicaSet': (spec, status) => {
    const wanted = numberOf(spec['replicas'], 1);
    return (
      fewer(status, 'availableReplicas', wanted, 'available') ??
      fewer(status, 'readyReplicas', wanted, 'ready') ??
      more(status, wanted)
    );
  },
  'apps/StatefulSet': (spec, status) => {
    if (fieldsOf(spec['updateStrategy'])['type'] === 'OnDelete') return undefined;
    const wanted = numberOf(spec['replicas'], 1);
    const { partition } = fieldsOf(fieldsOf(spec['updateStrategy'])['rollingUpdate']);
    const toUpdate = Math.max(0, wanted - numberOf(partition, 0));
    return (
      fewer(status, 'replicas', wanted, 'there') ??
      fewer(status, 'readyReplicas', wanted, 'ready') ??
      more(status, wanted) ??
      (status['currentRevision'] === status['updateRevision']
        ? undefined
        : fewer(status, 'updatedReplicas', toUpdate, 'updated')) ??
      unseen(status, wanted)
    );
  },
  'apps/DaemonSet': (_spec, status) => {
    const wanted = status['desiredNumberScheduled'];
    if (typeof wanted !== 'number' || status['observedGeneration'] === undefined)
      return 'its controller has not observed it yet';
    return (
      fewer(status, 'currentNumberScheduled', wanted, 'scheduled') ??
      fewer(status, 'updatedNumberScheduled', wanted, 'updated') ??
      fewer(status, 'numberAvailable', wanted, 'available') ??
      fewer(status, 'numberReady', wanted, 'ready')
    );
  },
  '/PersistentVolumeClaim': (_spec, { phase }) =>
    phase === 'Bound' ? undefined : `its phase is ${wordOf(phase)}, not Bound`,
  '/Pod': (_spec, status) => {
    const { phase } = status;
    if (phase === 'Succeeded') return undefined;
    if (phase === 'Running' && conditionOf(status, 'Ready')?.['status'] === 'True') return undefined;
    return `its phase is ${wordOf(phase)}`;
  },
  'batch/Job': (_spec, status) => {
    const failed = conditionOf(status, 'Failed');
    if (failed?.['status'] === 'True') return `it failed: ${wordOf(failed['message'] ?? failed['reason'])}`;
    return status['startTime'] === undefined ? 'it has not started' : undefined;
  },
  '/Service': (spec, status) => {
    if (spec['type'] !== 'LoadBalancer') return undefined;
    const { ingress } = fieldsOf(status['loadBalancer']);
    return Array.isArray(ingress) && ingress.length > 0 ? undefined : 'its load balancer is not ready yet';
  },
  'apiextensions.k8s.io/CustomResourceDefinition': (_spec, status) =>
    conditionOf(status, 'Established')?.['status'] === 'True' ? undefined : 'it is not established',
};

/** The reason in one of the three conditions that many kinds have: Stalled, Reconciling and Ready. */
function byConditions(status: Fields): string | undefined {
  for (const [type, bad] of [
    ['Stalled', 'True'],
    ['Reconciling', 'True'],
    ['Ready', 'False'],
    ['Ready', 'Unknown'],
  ] as const) {
    const condition = conditionOf(status, type);
    if (condition?.['status'] !== bad) continue;
    const details = [condition['reason'], condition['message']].filter(
      (text) => typeof text === 'string' && text !== '',
    );
    return `its condition ${type} is ${bad}${details.length === 0 ? '' : `: ${details.join(', ')}`}`;
  }
  return undefined;
}

/** The condition of a type. */
function conditionOf(status: Fields, type: string): Fields | undefined {
  const { conditions } = status;
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isObject).find((condition) => condition['type'] === type);
}

/** The reason if a count in the status is too low. */
function fewer(status: Fields, field: string, wanted: number, what: string): string | undefined {
  const count = numberOf(status[field], 0);
  return count < wanted ? `${count} of ${wanted} replicas are ${what}` : undefined;
}

/** Old replicas that still run mean that a rollout has not ended. */
function more(status: Fields, wanted: number): string | undefined {
  const count = numberOf(status['replicas'], 0);
  return count > wanted ? `${count - wanted} old replicas are still running` : undefined;
}

/** A workload without replicas seems ready before its controller has observed it. */
function unseen(status: Fields, wanted: number): string | undefined {
  return wanted === 0 && status['observedGeneration'] === undefined
    ? 'its controller has not observed it yet'
    : undefined;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : 'unknown';
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
