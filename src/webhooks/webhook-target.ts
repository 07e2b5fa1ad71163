/**
 * The address under which API servers reach our webhooks, in three forms: as `clientConfig` of a registration, as a test
 * whether a `clientConfig` is ours, and as names for the certificate.
 */

import { isObject } from '@addon-operator/json';

/** How API servers reach our webhooks: through a Service, or under a URL when we run outside of the cluster. */
export type WebhookTarget =
  | { readonly type: 'service'; readonly namespace: string; readonly name: string }
  /** Without a path; `https` only. */
  | { readonly type: 'url'; readonly url: string };

/**
 * The `clientConfig` of a webhook, as webhook configurations and custom resource definitions take it.
 *
 * @param path begins with `/`
 * @param ca PEM certificates of the authorities that the API server trusts
 */
export function clientConfigOf(
  target: WebhookTarget,
  path: string,
  ca: string,
): Readonly<Record<string, unknown>> {
  const caBundle = Buffer.from(ca).toString('base64');
  if (target.type === 'url') return { url: new URL(path, target.url).href, caBundle };
  return { service: { namespace: target.namespace, name: target.name, path }, caBundle };
}

/** Whether a `clientConfig` found in the cluster leads to us. */
export function leadsTo(target: WebhookTarget, clientConfig: unknown): boolean {
  if (!isObject(clientConfig)) return false;
  const { service, url } = clientConfig;
  if (target.type === 'url')
    return typeof url === 'string' && URL.parse(url)?.origin === new URL(target.url).origin;
  return isObject(service) && service['namespace'] === target.namespace && service['name'] === target.name;
}

/** The names and addresses a certificate must hold to be accepted under this target. */
export function hostsOf(target: WebhookTarget): readonly string[] {
  if (target.type === 'url') return [new URL(target.url).hostname.replaceAll(/^\[|\]$/g, '')];
  const name = `${target.name}.${target.namespace}`;
  return [`${name}.svc`, name, `${name}.svc.cluster.local`, target.name];
}
