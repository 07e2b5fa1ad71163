/** An API version that is served no more, or no longer to be used. */
export interface OldApi {
  /** The Kubernetes version that removed it; absent: it is deprecated only. */
  readonly removedIn?: string;
  /** What to use instead. */
  readonly use: string;
}

/** API versions by the Kubernetes version that removed them, as its deprecation guide has them. Without a kind: all others. */
const REMOVED: Readonly<Record<string, readonly string[]>> = {
  '1.16': ['extensions/v1beta1', 'extensions/v1beta1 NetworkPolicy', 'apps/v1beta1', 'apps/v1beta2'],
  '1.22': [
    'extensions/v1beta1 Ingress',
    'networking.k8s.io/v1beta1 Ingress',
    'networking.k8s.io/v1beta1 IngressClass',
    'rbac.authorization.k8s.io/v1alpha1',
    'rbac.authorization.k8s.io/v1beta1',
    'admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration',
    'admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration',
    'apiextensions.k8s.io/v1beta1',
    'apiregistration.k8s.io/v1beta1',
    'certificates.k8s.io/v1beta1 CertificateSigningRequest',
    'coordination.k8s.io/v1beta1 Lease',
    'scheduling.k8s.io/v1beta1 PriorityClass',
    'storage.k8s.io/v1beta1 CSIDriver',
    'storage.k8s.io/v1beta1 CSINode',
    'storage.k8s.io/v1beta1 StorageClass',
    'storage.k8s.io/v1beta1 VolumeAttachment',
  ],
  '1.25': [
    'batch/v1beta1 CronJob',
    'discovery.k8s.io/v1beta1 EndpointSlice',
    'events.k8s.io/v1beta1',
    'autoscaling/v2beta1',
    'policy/v1beta1 PodDisruptionBudget',
    'policy/v1beta1 PodSecurityPolicy',
    'node.k8s.io/v1beta1',
  ],
  '1.26': ['autoscaling/v2beta2', 'flowcontrol.apiserver.k8s.io/v1beta1'],
  '1.27': ['storage.k8s.io/v1beta1 CSIStorageCapacity'],
  '1.29': ['flowcontrol.apiserver.k8s.io/v1beta2'],
  '1.32': ['flowcontrol.apiserver.k8s.io/v1beta3'],
};

/** What replaces an API, where that is not `v1` of its group. */
const SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ['extensions/v1beta1 Ingress', 'networking.k8s.io/v1'],
  ['extensions/v1beta1 NetworkPolicy', 'networking.k8s.io/v1'],
  ['extensions/v1beta1', 'apps/v1'],
  ['autoscaling/v2beta1', 'autoscaling/v2'],
  ['autoscaling/v2beta2', 'autoscaling/v2'],
  ['policy/v1beta1 PodSecurityPolicy', 'the labels of Pod Security Admission'],
]);

const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['v1 Endpoints', 'discovery.k8s.io/v1 EndpointSlice'],
  ['v1 ComponentStatus', 'the endpoints /livez and /readyz'],
]);

/** What is known about an API version and kind; undefined for one that may be used. */
export function oldApi(apiVersion: string, kind: string): OldApi | undefined {
  for (const api of [`${apiVersion} ${kind}`, apiVersion]) {
    const deprecated = DEPRECATED.get(api);
    if (deprecated !== undefined) return { use: deprecated };
    const removedIn = Object.keys(REMOVED).find((version) => REMOVED[version]?.includes(api));
    if (removedIn !== undefined)
      return { removedIn, use: SUCCESSORS.get(api) ?? `${apiVersion.split('/')[0]}/v1` };
  }
  return undefined;
}
