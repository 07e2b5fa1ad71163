import { type KubeClient, requestIfPresent } from '../../kube/kube-client.ts';
import { type ApiResource, resourcePath } from '../../kube/kube-object.ts';
import { messageOf } from '../../lib/errors.ts';
import { fieldsOf } from '../../lib/json.ts';
import type { HookAddress } from '../../modules/module-hook.ts';
import { addressableUrl, serviceUrl } from './endpoint-url.ts';

export interface ResolverDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** Of references that name none. */
  readonly namespace: string;
}

/**
 * Where a module's server is now. A reference is looked up each time: what it leads to may move.
 *
 * @throws Error naming the object that is missing or leads nowhere; whatever the client throws
 */
export async function resolveAddress(
  deps: ResolverDeps,
  address: HookAddress,
  signal: AbortSignal,
): Promise<URL> {
  if (address.type === 'url') return address.url;
  const { ref, uri } = address;
  const namespace = ref.namespace ?? deps.namespace;
  const title = `${ref.kind} ${namespace}/${ref.name}, which hook.address.ref of module.yaml names`;
  const resource = await deps.find(ref.apiVersion, ref.kind, signal);
  const object = await read(deps.kube, resource, { namespace, name: ref.name }, title, signal);
  try {
    if (resource.group === '' && resource.kind === 'Service')
      return serviceUrl({ namespace, name: ref.name }, object['spec'], uri);
    return addressableUrl(object['status'], uri);
  } catch (cause) {
    throw new Error(`${title}, cannot be used: ${messageOf(cause)}`, { cause });
  }
}

async function read(
  kube: ResolverDeps['kube'],
  resource: ApiResource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  title: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const path = resourcePath(resource, resource.isNamespaced ? namespace : undefined, name);
  const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
  if (object === undefined) throw new Error(`${title}, does not exist`);
  return fieldsOf(object);
}
