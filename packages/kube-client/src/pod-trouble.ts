import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { ifAllowed, type KubeClient } from './kube-client.ts';
import type { KubeObject } from './kube-object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Kinds whose status counts pods without a reason; the reason is in the status of the pods. */
const WORKLOADS = [
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'apps/v1/StatefulSet',
  'apps/v1/DaemonSet',
  'batch/v1/Job',
];
/** Pods of one workload rarely fail for different reasons. */
const MAX_PODS = '50';
/** Reasons for which a container waits while it starts normally. */
const USUAL = ['ContainerCreating', 'PodInitializing'];

/** Whether an object of the kind has pods that {@link readPodTrouble} looks at. */
export function hasPods({ apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return WORKLOADS.includes(`${apiVersion}/${kind}`);
}

/**
 * The reason why pods of a workload do not run, in the words of the scheduler and the kubelet. Undefined when all run,
 * for other kinds, and when the account may not list pods.
 */
export async function readPodTrouble(
  workload: KubeObject,
  kube: Pick<KubeClient, 'request'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace } = workload.metadata;
  const labelSelector = selectorOf(workload);
  if (!hasPods(workload) || labelSelector === undefined || typeof namespace !== 'string') return undefined;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const query = { labelSelector, limit: MAX_PODS };
  const list = await ifAllowed(kube.request({ method: 'GET', path, query }, signal));
  const { items } = fieldsOf(list);
  return podTrouble(Array.isArray(items) ? items.filter(isObject) : []);
}

/** The first reason of these pods: of one that cannot be scheduled, cannot start or has ended with an error. */
export function podTrouble(pods: readonly Fields[]): string | undefined {
  for (const pod of pods) {
    const { name, deletionTimestamp } = fieldsOf(pod['metadata']);
    if (deletionTimestamp !== undefined) continue;
    const trouble = troubleOf(fieldsOf(pod['status']));
    if (trouble !== undefined) return `pod ${stringOf(name)} ${trouble}`;
  }
  return undefined;
}

/**
 * The first problem in the status of one pod: scheduling, then init containers, then containers, then the
 * whole pod.
 */
function troubleOf(status: Fields): string | undefined {
  const unscheduled = listOf(status['conditions']).find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled !== undefined) return `cannot be scheduled: ${stringOf(unscheduled['message'])}`;
  const containers = [...listOf(status['initContainerStatuses']), ...listOf(status['containerStatuses'])];
  for (const container of containers) {
    const trouble = containerTrouble(container);
    if (trouble !== undefined) return `has a container ${stringOf(container['name'])} that ${trouble}`;
  }
  const { phase, reason, message } = status;
  if (phase !== 'Failed') return undefined;
  return `has failed${withDetails(reason, message)}`;
}

/**
 * A container that waits for an unusual reason, with the end of its previous run, or one that ended with an
 * error.
 */
function containerTrouble(container: Fields): string | undefined {
  const { waiting, terminated } = fieldsOf(container['state']);
  if (isObject(waiting) && !USUAL.includes(stringOf(waiting['reason']))) {
    const last = fieldsOf(container['lastState'])['terminated'];
    const ended = isObject(last) ? ` after it ${endOf(last)}` : '';
    return `waits${ended}${withDetails(waiting['reason'], waiting['message'])}`;
  }
  return isObject(terminated) && terminated['exitCode'] !== 0 ? endOf(terminated) : undefined;
}

/** The end of a container. The reason `Error` is left out: it says no more than the exit code. */
function endOf({ exitCode, reason, message }: Fields): string {
  return `ended with exit code ${String(exitCode)}${withDetails(reason === 'Error' ? '' : reason, message)}`;
}

function withDetails(...details: readonly unknown[]): string {
  const parts = details.map((detail) => stringOf(detail).trim()).filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join(': ')})`;
}

/** The label selector as a list takes it; undefined for none, and for one with expressions, which charts rarely have. */
function selectorOf({ spec }: KubeObject): string | undefined {
  const { matchLabels, matchExpressions } = fieldsOf(fieldsOf(spec)['selector']);
  if (!isObject(matchLabels) || matchExpressions !== undefined) return undefined;
  return Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${stringOf(value)}`)
    .join(',');
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
