import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { leaderPod } from '../../leader/leader-host.ts';
import { LEASE_NAME } from '../../leader/leadership.ts';
import { listOf } from '../output/tables.ts';
import type { ContainerRef, RemoteCluster } from './kubeconfig-cluster.ts';
import type { RemoteTarget } from './remote-arguments.ts';

/** Name of the container, in our chart and in that of the original. */
const CONTAINER = 'addon-operator';
const ANYWHERE = '/api/v1/pods?labelSelector=app.kubernetes.io%2Fname%3Daddon-operator';

interface OperatorPod extends ContainerRef {
  /** That of the pod, or `Terminating`. */
  readonly phase: string;
}

/**
 * Finds the pod of the operator that acts: the named one, the only running one, or of several the holder of the Lease.
 * Without a namespace it is looked for in that of the context, then by its label in all.
 *
 * @throws OperatorError DEBUG_SOCKET when there is none, or none can be chosen, with what was found
 * @throws errors of {@link RemoteCluster.get}
 */
export async function findOperator(
  cluster: RemoteCluster,
  { namespace, pod }: Pick<RemoteTarget, 'namespace' | 'pod'>,
  signal: AbortSignal,
): Promise<ContainerRef> {
  const first = namespace ?? cluster.namespace ?? 'default';
  let pods = operatorPods(await cluster.get(`/api/v1/namespaces/${first}/pods`, signal));
  if (pods.length === 0 && namespace === undefined) pods = await podsAnywhere(cluster, first, signal);
  if (pods.length === 0) throw notFound(`no pod in namespace ${first} has a container "${CONTAINER}"`);
  if (pod !== undefined) {
    const named = pods.find((one) => one.pod === pod);
    if (named === undefined) throw notFound(`pod ${pod} is not among ${namesOf(pods)}`);
    return named;
  }
  const running = pods.filter(({ phase }) => phase === 'Running');
  const [only] = running;
  if (only === undefined) throw notFound(`none of its pods runs: ${namesOf(pods)}`);
  if (running.length === 1) return only;
  if (new Set(running.map((one) => one.namespace)).size > 1)
    throw notFound(`there are several, choose a namespace with -n: ${namesOf(running)}`);
  return await leaderOf(running, cluster, signal);
}

async function podsAnywhere(
  cluster: RemoteCluster,
  first: string,
  signal: AbortSignal,
): Promise<readonly OperatorPod[]> {
  try {
    return operatorPods(await cluster.get(ANYWHERE, signal));
  } catch (error) {
    if (!(error instanceof KubeApiError)) throw error;
    throw notFound(
      `there is none in namespace ${first}, and others may not be listed; name its namespace with -n`,
    );
  }
}

async function leaderOf(
  running: readonly OperatorPod[],
  cluster: RemoteCluster,
  signal: AbortSignal,
): Promise<ContainerRef> {
  const [{ namespace } = { namespace: '' }] = running;
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${LEASE_NAME}`;
  const lease = await cluster.get(path, signal);
  const holder = leaderPod(stringOf(fieldsOf(lease['spec'])['holderIdentity']));
  const leader = running.find((one) => one.pod === holder);
  if (leader !== undefined) return leader;
  const found =
    holder === '' ? 'no replica leads at the moment' : `the Lease is held by ${holder}, which does not run`;
  throw notFound(`${found}; retry in some seconds, or choose a replica with --pod: ${namesOf(running)}`);
}

function operatorPods(list: Readonly<Record<string, unknown>>): readonly OperatorPod[] {
  return listOf(list['items']).flatMap((item) => {
    const { name, namespace, deletionTimestamp } = fieldsOf(item['metadata']);
    const containers = listOf(fieldsOf(item['spec'])['containers']);
    if (!containers.some((one) => one['name'] === CONTAINER)) return [];
    const phase =
      deletionTimestamp === undefined ? stringOf(fieldsOf(item['status'])['phase']) : 'Terminating';
    return [{ namespace: stringOf(namespace), pod: stringOf(name), container: CONTAINER, phase }];
  });
}

function namesOf(pods: readonly OperatorPod[]): string {
  return pods.map(({ namespace, pod, phase }) => `${namespace}/${pod} (${phase})`).join(', ');
}

function notFound(problem: string): OperatorError {
  return new OperatorError('DEBUG_SOCKET', `cannot find the operator: ${problem}`);
}
