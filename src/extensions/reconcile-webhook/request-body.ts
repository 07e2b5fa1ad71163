import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { WebhookCapability } from '../../modules/reconcile-webhook.ts';

type FormFactor = 'deployment' | 'ksvc';

/** The content of a request to a reconcile webhook. */
interface ReconcileRequest {
  readonly phase: WebhookCapability;
  /** The Module object with its status. */
  readonly object: KubeObject;
  /** The rendered objects, or the deployed ones when the module is deleted. */
  readonly children: readonly KubeObject[];
}

/** The body of the request, as JSON. */
export function requestBody({ phase, object, children }: ReconcileRequest): string {
  return JSON.stringify({
    formFactor: formFactorOf(children),
    phase,
    object,
    children: keyedChildren(children),
  });
}

/** `ksvc` if the objects include a Service of Knative. */
export function formFactorOf(children: readonly KubeObject[]): FormFactor {
  const isKnative = ({ apiVersion = '', kind }: KubeObject): boolean =>
    kind === 'Service' && apiVersion.startsWith('serving.knative.dev/');
  return children.some(isKnative) ? 'ksvc' : 'deployment';
}

/**
 * Objects by a key that is the same in all calls: `<Kind>.<group>/<namespace>/<name>`, without the
 * group for core kinds, and without the namespace if the manifest has none. A duplicate key gets
 * `#2`.
 */
export function keyedChildren(children: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
  const keyed = new Map<string, KubeObject>();
  for (const child of children) {
    const key = childKey(child);
    let unique = key;
    for (let count = 2; keyed.has(unique); count += 1) unique = `${key}#${count}`;
    keyed.set(unique, child);
  }
  return Object.fromEntries(keyed);
}

/** The key of one object, see {@link keyedChildren}. */
export function childKey({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const [group = '', version] = apiVersion.split('/');
  const type = version === undefined ? kind : `${kind}.${group}`;
  const { namespace = '', name } = metadata;
  return namespace === '' ? `${type}/${name}` : `${type}/${namespace}/${name}`;
}
