import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { WebhookCapability } from '../../modules/reconcile-webhook.ts';

type FormFactor = 'deployment' | 'ksvc';

/** What the server of a module is sent. */
interface ReconcileRequest {
  readonly phase: WebhookCapability;
  /** The Module object with its status. */
  readonly object: KubeObject;
  /** What the chart was rendered to, or what is deployed when the module goes. */
  readonly children: readonly KubeObject[];
}

/** The body of the request, JSON. */
export function requestBody({ phase, object, children }: ReconcileRequest): string {
  return JSON.stringify({
    formFactor: formFactorOf(children),
    phase,
    object,
    children: keyedChildren(children),
  });
}

/** `ksvc` when there is a Service of Knative among the objects. */
export function formFactorOf(children: readonly KubeObject[]): FormFactor {
  const isKnative = ({ apiVersion = '', kind }: KubeObject): boolean =>
    kind === 'Service' && apiVersion.startsWith('serving.knative.dev/');
  return children.some(isKnative) ? 'ksvc' : 'deployment';
}

/**
 * Objects by a key that stays the same from call to call: `<Kind>.<group>/<namespace>/<name>`, without the group for those
 * of the core, and without the namespace where the manifest has none. Should one be there twice, `#2` is added.
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
