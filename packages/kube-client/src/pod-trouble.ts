import { fieldsOf, isObject } from '@addon-operator/json';
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
/** What a container waits for while all goes well. */
const USUAL = ['ContainerCreating', 'PodInitializing'];

/** Whether an object of the kind has pods that {@link readPodTrouble} looks at. */
export function hasPods({ apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return WORKLOADS.includes(`${apiVersion}/${kind}`);
}

/**
 * What keeps the pods of a workload from running, in the words of the scheduler and the kubelet. Undefined when nothing does,
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
    if (trouble !== undefined) return `pod ${textOf(name)} ${trouble}`;
  }
  return undefined;
}

function troubleOf(status: Fields): string | undefined {
  const unscheduled = listOf(status['conditions']).find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled !== undefined) return `cannot be scheduled: ${textOf(unscheduled['message'])}`;
  const containers = [...listOf(status['initContainerStatuses']), ...listOf(status['containerStatuses'])];
  for (const container of containers) {
    const trouble = containerTrouble(container);
    if (trouble !== undefined) return `has a container ${textOf(container['name'])} that ${trouble}`;
  }
  const { phase, reason, message } = status;
  if (phase !== 'Failed') return undefined;
  return `has failed${withDetails(reason, message)}`;
}

function containerTrouble(container: Fields): string | undefined {
  const { waiting, terminated } = fieldsOf(container['state']);
  if (isObject(waiting) && !USUAL.includes(textOf(waiting['reason']))) {
    const last = fieldsOf(container['lastState'])['terminated'];
    const ended = isObject(last) ? ` after it ${endOf(last)}` : '';
    return `waits${ended}${withDetails(waiting['reason'], waiting['message'])}`;
  }
  return isObject(terminated) && terminated['exitCode'] !== 0 ? endOf(terminated) : undefined;
}

/** Without the usual reason, which says nothing: `Error`. */
function endOf({ exitCode, reason, message }: Fields): string {
  return `ended with exit code ${String(exitCode)}${withDetails(reason === 'Error' ? '' : reason, message)}`;
}

function withDetails(...details: readonly unknown[]): string {
  const texts = details.map((detail) => textOf(detail).trim()).filter((text) => text !== '');
  return texts.length === 0 ? '' : ` (${texts.join(': ')})`;
}

/** As a list takes it; undefined for none, and for one with expressions, which charts rarely have. */
function selectorOf({ spec }: KubeObject): string | undefined {
  const { matchLabels, matchExpressions } = fieldsOf(fieldsOf(spec)['selector']);
  if (!isObject(matchLabels) || matchExpressions !== undefined) return undefined;
  return Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .join(',');
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
