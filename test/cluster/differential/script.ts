/** One request of a script, and how closely its responses are compared. */
export interface ScriptStep {
  readonly method: string;
  /** Path and query; `{ns}` means the namespace of the script. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  /** JSON value, or the text itself; `{ns}` as in the path. */
  readonly body?: unknown;
  /**
   * `all` (default): status, warnings and body. `reason`: status and the reason of a failure, where the words are those
   * of one implementation. `status`: the HTTP status alone.
   */
  readonly compare?: 'all' | 'reason' | 'status';
}

export interface Script {
  readonly name: string;
  readonly steps: readonly ScriptStep[];
}

export const STRATEGIC = 'application/strategic-merge-patch+json';
export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
export const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const METADATA_LIST =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
export const CONFIG_MAPS = '/api/v1/namespaces/{ns}/configmaps';
export const SECRETS = '/api/v1/namespaces/{ns}/secrets';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/{ns}/deployments';

export function post(path: string, body: unknown): ScriptStep {
  return { method: 'POST', path, contentType: 'application/json', body };
}

export function put(path: string, body: unknown): ScriptStep {
  return { method: 'PUT', path, contentType: 'application/json', body };
}

export function get(path: string): ScriptStep {
  return { method: 'GET', path };
}

export function patch(path: string, contentType: string, body: unknown): ScriptStep {
  return { method: 'PATCH', path, contentType, body };
}

export function remove(path: string, body?: unknown): ScriptStep {
  return { method: 'DELETE', path, ...(body === undefined ? {} : { contentType: 'application/json', body }) };
}

export function loosely(step: ScriptStep): ScriptStep {
  return { ...step, compare: 'reason' };
}

export function configMap(name: string, data: unknown = { a: '1' }, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export const CONTAINER = {
  name: 'main',
  image: 'nginx:1.27',
  ports: [{ name: 'http', containerPort: 80 }],
  env: [
    { name: 'A', value: '1' },
    { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
  readinessProbe: { httpGet: { port: 'http' } },
  resources: { limits: { memory: '64Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
};

export const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [CONTAINER], volumes: [{ name: 'config', configMap: { name: 'config' } }] },
    },
  },
};

export const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] },
};
