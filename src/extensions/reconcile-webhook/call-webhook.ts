import type { SteadyClock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { type ApiResource, resourcePath } from '@addon-operator/kube-client/kube-object';
import type { AllowedHosts } from '../../hooks/http/allowed-hosts.ts';
import type { HookResponse } from '../../hooks/http/hook-response.ts';
import { shownUrl } from '../../hooks/http/http-endpoint.ts';
import { isUntrusted } from '../../hooks/http/http-hooks.ts';
import { MAX_REQUEST_BYTES, postToHook } from '../../hooks/http/post-hook.ts';
import {
  addressTitle,
  type ReconcileWebhook,
  type UriParts,
  type WebhookAddress,
} from '../../modules/reconcile-webhook.ts';

/** One request. */
interface WebhookCall {
  /** The name of the call in messages. */
  readonly title: string;
  /** JSON. */
  readonly body: string;
  /** Skips the body of a successful response. */
  readonly ignoresBody?: boolean;
}

export interface CallDeps extends ResolverDeps {
  readonly clock: SteadyClock;
  readonly hosts: AllowedHosts;
  /** Sent in the User-Agent header. */
  readonly version: string;
  /** Called before a request is sent, which fails with its error. */
  readonly check: () => void;
}

/** A response with its origin, for messages. */
export interface CallResult {
  readonly response: HookResponse;
  readonly from: string;
}

const NO_CREDENTIALS = { authorization: undefined, secureContext: undefined };

/**
 * Sends a request to the reconcile webhook of a module and returns the response, of any status.
 *
 * @param title the name of the call in messages
 * @throws OperatorError HOOK_TIMEOUT, or HOOK_FAILED without a server or a complete response; a
 *   retry may help
 * @throws `signal.reason` on abort; the connection is closed
 */
export async function callWebhook(
  deps: CallDeps,
  { address, timeoutMs: limitMs }: ReconcileWebhook,
  { title, body, ignoresBody = false }: WebhookCall,
  signal: AbortSignal,
): Promise<CallResult> {
  const { clock, version, check, hosts } = deps;
  check();
  let from = addressTitle(address);
  const failure = (why: string, cause?: unknown): OperatorError =>
    new OperatorError('HOOK_FAILED', `${title} failed: POST ${from}: ${why}`, { cause });
  if (Buffer.byteLength(body) > MAX_REQUEST_BYTES)
    throw failure(`the objects of the module are larger than ${MAX_REQUEST_BYTES} bytes`);
  const error = (): Error =>
    new OperatorError('HOOK_TIMEOUT', `${title} got no response within ${limitMs / 1_000} s: POST ${from}`);
  return await withDeadline({ clock, limitMs, error }, signal, async (signal) => {
    try {
      const url = await resolveAddress(deps, address, signal);
      from = shownUrl(url);
      // A reference can lead anywhere, so its target has to be in the allow-list.
      if (address.type === 'ref') hosts.requireListed(url);
      const headers = { 'user-agent': `addon-operator/${version}` };
      const response = await postToHook(
        { url, body, headers, credentials: NO_CREDENTIALS, clock, hosts, ignoresBody },
        signal,
      );
      return { response, from };
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw failure(connectionText(cause), cause);
    }
  });
}

// The most frequent cause of an untrusted certificate is a private authority.
function connectionText(error: unknown): string {
  const message = errorText(error);
  return isUntrusted(error)
    ? `${message}; set the variable NODE_EXTRA_CA_CERTS of the operator to the certificate authority of the server`
    : message;
}

interface ResolverDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** The default namespace of references. */
  readonly namespace: string;
}

/**
 * The current URL of a module's server. A reference is resolved for each call, since its target may
 * move.
 *
 * @throws Error with the object that is missing or has no URL; errors of the API client
 */
async function resolveAddress(
  deps: ResolverDeps,
  address: WebhookAddress,
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

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * The URL of a Service: scheme and path of `uri`, default `http` and `/`; its port, else the only
 * port of the Service, the one named like the scheme, or the scheme's default port.
 *
 * @param spec of the Service
 * @throws Error if it has several ports and no rule picks one
 */
export function serviceUrl(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  spec: unknown,
  { scheme = 'http', port, path = '/' }: UriParts,
): URL {
  return new URL(`${scheme}://${name}.${namespace}.svc:${port ?? servicePort(spec, scheme)}${path}`);
}

function servicePort(spec: unknown, scheme: 'http' | 'https'): number {
  const listed: readonly unknown[] = isObject(spec) && Array.isArray(spec['ports']) ? spec['ports'] : [];
  const ports = listed.filter(isObject).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const [only] = ports;
  const usual = DEFAULT_PORTS[scheme];
  const picked =
    ports.length === 1
      ? only
      : (ports.find(({ name }) => name === scheme) ?? ports.find(({ port }) => port === usual));
  if (typeof picked?.['port'] === 'number') return picked['port'];
  if (ports.length === 0) return usual;
  const list = ports.map(({ name, port }) =>
    typeof name === 'string' ? `${name} ${String(port)}` : String(port),
  );
  throw new Error(
    `it has several ports (${list.join(', ')}), and none is named ${scheme} or is ${usual}: set the port in uri, for example ${scheme}://:8080`,
  );
}

/**
 * The URL of an object with `status.address.url` (an addressable of Knative), with scheme, port and
 * path of `uri` in place of its own. With another scheme and no port in `uri`, the port is that
 * scheme's default.
 *
 * @param status of the object
 * @throws Error without an http(s) `address.url`
 */
export function addressableUrl(status: unknown, { scheme, port, path }: UriParts): URL {
  const address = isObject(status) ? status['address'] : undefined;
  const shown = isObject(address) ? address['url'] : undefined;
  if (typeof shown !== 'string' || shown === '')
    throw new Error('it has no status.address.url: it is not ready, or it is not a callable object');
  const url = URL.parse(shown);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error('its status.address.url does not begin with http:// or https://');
  const own = url.protocol === 'https:' ? 'https' : 'http';
  const to = scheme ?? own;
  const portText = port === undefined ? (to === own ? url.port : '') : String(port);
  const where = portText === '' ? url.hostname : `${url.hostname}:${portText}`;
  return new URL(`${to}://${where}${path ?? `${url.pathname}${url.search}`}`);
}
