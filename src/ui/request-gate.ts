/**
 * Decides whether a browser request may reach the page. The page listens on loopback, so the attackers are other pages in
 * the same browser: the checks of Host, Origin and Sec-Fetch headers stop DNS rebinding and cross-site requests.
 */

import type { IncomingHttpHeaders } from 'node:http';

export interface RequestGate {
  /** Names of hosts, besides this machine, under which browsers may reach the page. */
  readonly allowedHosts: readonly string[];
}

type GateHeaders = Pick<IncomingHttpHeaders, 'host' | 'origin'> & {
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
  readonly 'sec-fetch-dest'?: string | string[] | undefined;
};

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Why a request is refused, from any client; undefined if it may pass. A name that is not allowed is what DNS rebinding
 * looks like. Any port is right: `kubectl port-forward` takes the one the user likes. A page of another origin may open
 * ours by a link, and nothing else.
 *
 * @param isPage whether the response is the page itself, which a link may open
 */
export function refusalOf(
  headers: GateHeaders,
  isPage: boolean,
  { allowedHosts }: RequestGate,
): string | undefined {
  const { host = '', origin } = headers;
  const [, name] = /^(\[[\da-f:]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(host) ?? [];
  if (name === undefined || !isAllowed(name.toLowerCase(), allowedHosts))
    return `403 forbidden: the host "${host.slice(0, 100)}" is not allowed, see --ui-allowed-hosts`;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return undefined;
  if (site !== undefined) {
    const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    if (isPage && isLink && origin === undefined) return undefined;
  } else if (origin === undefined || hostOf(origin) === host.toLowerCase()) return undefined;
  return '403 forbidden: the request comes from a page of another origin';
}

function isAllowed(name: string, allowedHosts: readonly string[]): boolean {
  return LOOPBACK.test(name) || allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

/** Undefined for `null`, which browsers send for origins that are to stay secret. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
