/** An API version that is served no more, or no longer to be used. */
export interface OldApi {
  readonly apiVersion: string;
  /** Absent: all kinds. */
  readonly kinds?: readonly string[];
  /** The Kubernetes version that removed it; absent: it is deprecated only. */
  readonly removedIn?: string;
  readonly use: string;
}

/** As the deprecation guide of Kubernetes has them. */
const OLD_APIS: readonly OldApi[] = [
  { apiVersion: 'extensions/v1beta1', kinds: ['Ingress'], removedIn: '1.22', use: 'networking.k8s.io/v1' },
  {
    apiVersion: 'extensions/v1beta1',
    kinds: ['NetworkPolicy'],
    removedIn: '1.16',
    use: 'networking.k8s.io/v1',
  },
  { apiVersion: 'extensions/v1beta1', removedIn: '1.16', use: 'apps/v1' },
  { apiVersion: 'apps/v1beta1', removedIn: '1.16', use: 'apps/v1' },
  { apiVersion: 'apps/v1beta2', removedIn: '1.16', use: 'apps/v1' },
  {
    apiVersion: 'networking.k8s.io/v1beta1',
    kinds: ['Ingress', 'IngressClass'],
    removedIn: '1.22',
    use: 'networking.k8s.io/v1',
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1alpha1',
    removedIn: '1.22',
    use: 'rbac.authorization.k8s.io/v1',
  },
  { apiVersion: 'rbac.authorization.k8s.io/v1beta1', removedIn: '1.22', use: 'rbac.authorization.k8s.io/v1' },
  {
    apiVersion: 'admissionregistration.k8s.io/v1beta1',
    kinds: ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'],
    removedIn: '1.22',
    use: 'admissionregistration.k8s.io/v1',
  },
  { apiVersion: 'apiextensions.k8s.io/v1beta1', removedIn: '1.22', use: 'apiextensions.k8s.io/v1' },
  { apiVersion: 'apiregistration.k8s.io/v1beta1', removedIn: '1.22', use: 'apiregistration.k8s.io/v1' },
  {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kinds: ['CertificateSigningRequest'],
    removedIn: '1.22',
    use: 'certificates.k8s.io/v1',
  },
  {
    apiVersion: 'coordination.k8s.io/v1beta1',
    kinds: ['Lease'],
    removedIn: '1.22',
    use: 'coordination.k8s.io/v1',
  },
  {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kinds: ['PriorityClass'],
    removedIn: '1.22',
    use: 'scheduling.k8s.io/v1',
  },
  {
    apiVersion: 'storage.k8s.io/v1beta1',
    kinds: ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
    removedIn: '1.22',
    use: 'storage.k8s.io/v1',
  },
  {
    apiVersion: 'storage.k8s.io/v1beta1',
    kinds: ['CSIStorageCapacity'],
    removedIn: '1.27',
    use: 'storage.k8s.io/v1',
  },
  { apiVersion: 'batch/v1beta1', kinds: ['CronJob'], removedIn: '1.25', use: 'batch/v1' },
  {
    apiVersion: 'discovery.k8s.io/v1beta1',
    kinds: ['EndpointSlice'],
    removedIn: '1.25',
    use: 'discovery.k8s.io/v1',
  },
  { apiVersion: 'events.k8s.io/v1beta1', removedIn: '1.25', use: 'events.k8s.io/v1' },
  { apiVersion: 'autoscaling/v2beta1', removedIn: '1.25', use: 'autoscaling/v2' },
  { apiVersion: 'autoscaling/v2beta2', removedIn: '1.26', use: 'autoscaling/v2' },
  { apiVersion: 'policy/v1beta1', kinds: ['PodDisruptionBudget'], removedIn: '1.25', use: 'policy/v1' },
  {
    apiVersion: 'policy/v1beta1',
    kinds: ['PodSecurityPolicy'],
    removedIn: '1.25',
    use: 'the labels of Pod Security Admission',
  },
  { apiVersion: 'node.k8s.io/v1beta1', removedIn: '1.25', use: 'node.k8s.io/v1' },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta1',
    removedIn: '1.26',
    use: 'flowcontrol.apiserver.k8s.io/v1',
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2',
    removedIn: '1.29',
    use: 'flowcontrol.apiserver.k8s.io/v1',
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta3',
    removedIn: '1.32',
    use: 'flowcontrol.apiserver.k8s.io/v1',
  },
  { apiVersion: 'v1', kinds: ['Endpoints'], use: 'discovery.k8s.io/v1 EndpointSlice' },
  { apiVersion: 'v1', kinds: ['ComponentStatus'], use: 'the endpoints /livez and /readyz' },
];

/** What is said about an API version and kind; undefined for one that may be used. */
export function oldApi(apiVersion: string, kind: string): OldApi | undefined {
  return OLD_APIS.find(
    (old) => old.apiVersion === apiVersion && (old.kinds === undefined || old.kinds.includes(kind)),
  );
}

/** Built-in kinds whose objects have no namespace. */
const CLUSTER_KINDS: ReadonlySet<string> = new Set([
  'APIService',
  'CSIDriver',
  'CSINode',
  'CertificateSigningRequest',
  'ClusterRole',
  'ClusterRoleBinding',
  'ClusterTrustBundle',
  'CustomResourceDefinition',
  'DeviceClass',
  'FlowSchema',
  'IPAddress',
  'IngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ResourceSlice',
  'RuntimeClass',
  'ServiceCIDR',
  'StorageClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

/** Whether a kind is built in and its objects have a namespace. */
export function isBuiltInNamespaced(apiVersion: string, kind: string): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return (!group.includes('.') || group.endsWith('.k8s.io')) && !CLUSTER_KINDS.has(kind);
}
