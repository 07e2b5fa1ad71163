import { isObject } from '../../lib/json.ts';
import type { UriParts } from '../../modules/module-hook.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * The URL of a Service: scheme and path of `uri`, default `http` and `/`; its port, else the one port of the Service, the
 * one that is named like the scheme, or the default one of the scheme.
 *
 * @param spec of the Service
 * @throws Error when it has several ports, and none of these rules picks one
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
 * The URL of an object that says in its status where it is, with scheme, port and path of `uri` in place of its own. With
 * another scheme and no port in `uri`, the port is the default one of that scheme.
 *
 * @param status of the object
 * @throws Error when there is no `address.url` in it, or none for http
 */
export function addressableUrl(status: unknown, { scheme, port, path }: UriParts): URL {
  const address = isObject(status) ? status['address'] : undefined;
  const text = isObject(address) ? address['url'] : undefined;
  if (typeof text !== 'string' || text === '')
    throw new Error('it has no status.address.url: it is not ready, or it is not a callable object');
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error('its status.address.url does not begin with http:// or https://');
  const own = url.protocol === 'https:' ? 'https' : 'http';
  const to = scheme ?? own;
  const portText = port === undefined ? (to === own ? url.port : '') : String(port);
  const where = portText === '' ? url.hostname : `${url.hostname}:${portText}`;
  return new URL(`${to}://${where}${path ?? `${url.pathname}${url.search}`}`);
}
