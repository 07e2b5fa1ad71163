import type { Clock } from '@addon-operator/base/clock';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { fieldsOf, stringOf } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { Access, ResourceAccess } from '@addon-operator/kube-client/policy-rules';
import type { Inspection } from '../plan/inspection.ts';
import { neededAccess } from '../plan/needed-access.ts';
import type { ClusterFacts, ReleaseSecretFacts } from '../tools/doctor/doctor.ts';
import { unknownModuleKeys } from '../values/config-map-content.ts';

const REVIEWS_AT_ONCE = 8;
const SERVER_STEP_MS = 1_000;

/** Reads the facts about the cluster for `doctor`. @throws OperatorError when the API server does not let it look */
export async function clusterFacts(
  inspection: Inspection & { readonly configMap: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<Omit<ClusterFacts, 'sourceProblems'>> {
  const { operator, base, namespace, configMap } = inspection;
  const kube = base.cluster.helm;
  const { modules } = operator.registry;
  const { access, problems } = await neededAccess(inspection, modules, signal);
  const skewMs = await clockSkewMs(kube, namespace, clock, signal);
  return {
    namespace,
    configMap,
    serverVersion: (await base.cluster.discovery.serverVersion(signal)).gitVersion,
    ...(skewMs === undefined ? {} : { clockSkewMs: skewMs }),
    unknownKeys: unknownModuleKeys(operator.configMapContent(), new Set(modules.map(({ key }) => key))),
    releases: await base.helm.listReleases(signal),
    releaseSecrets: await releaseSecrets(kube, namespace, signal),
    missingAccess: await missingAccess(kube, access, signal),
    accessProblems: problems,
  };
}

/** The server sets the time in what it would create; undefined where it does not let us try. */
async function clockSkewMs(
  kube: KubeClient,
  namespace: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<number | undefined> {
  const beforeMs = clock.wallMs();
  const metadata = { generateName: 'doctor-', namespace };
  try {
    const created = await kube.request(
      {
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        query: { dryRun: 'All' },
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      },
      signal,
    );
    const serverMs = Date.parse(stringOf(fieldsOf(fieldsOf(created)['metadata'])['creationTimestamp']));
    if (Number.isNaN(serverMs)) return undefined;
    // The server says whole seconds, of a moment while the request was under way.
    return serverMs > clock.wallMs()
      ? serverMs - clock.wallMs()
      : Math.min(0, serverMs + SERVER_STEP_MS - beforeMs);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function releaseSecrets(
  kube: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly ReleaseSecretFacts[]> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const list = fieldsOf(
    await kube.request({ method: 'GET', path, query: { labelSelector: 'owner=helm' } }, signal),
  );
  const items = Array.isArray(list['items']) ? list['items'].map(fieldsOf) : [];
  return items.map(({ metadata, data }) => ({
    name: stringOf(fieldsOf(metadata)['name']),
    bytes: Buffer.byteLength(stringOf(fieldsOf(data)['release']), 'base64'),
  }));
}

/** The permissions that this command lacks: in a pod of the operator they are those that the operator lacks. */
export async function missingAccess(
  kube: KubeClient,
  needed: readonly Access[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const attributes = new Map(
    needed
      .filter((access) => 'resource' in access)
      .flatMap(attributesOf)
      .map((one) => [JSON.stringify(one), one]),
  );
  const missing = await mapParallel([...attributes.values()], REVIEWS_AT_ONCE, async (resourceAttributes) => {
    const [apiVersion, kind] = ['authorization.k8s.io/v1', 'SelfSubjectAccessReview'];
    const body = { apiVersion, kind, spec: { resourceAttributes } };
    const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
    const review = fieldsOf(await kube.request({ method: 'POST', path, body }, signal));
    return fieldsOf(review['status'])['allowed'] === true ? [] : [titleOf(resourceAttributes)];
  });
  return missing.flat().toSorted();
}

type Attributes = Readonly<
  Record<'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name', string>
>;

function attributesOf({
  group,
  resource,
  verbs,
  namespace = '',
  names = [''],
}: ResourceAccess): readonly Attributes[] {
  const [main = '', subresource = ''] = resource.split('/');
  return verbs.flatMap((verb) =>
    names.map((name) => ({ verb, group, resource: main, subresource, namespace, name })),
  );
}

function titleOf({ verb, group, resource, subresource, namespace, name }: Attributes): string {
  const what = `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return `${verb} ${what}${name === '' ? '' : ` ${name}`}${namespace === '' ? '' : ` in ${namespace}`}`;
}
