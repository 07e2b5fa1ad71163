import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { UiSettings } from '../settings/ui-settings.ts';
import type { ReviewedUser } from './access-reviews.ts';

export type ProxySettings = Pick<
  UiSettings,
  'uiProxyAddresses' | 'uiProxyUserHeader' | 'uiProxyGroupsHeader' | 'uiProxySecretHeader'
>;

/** Every user that signed in has it; the API server adds it to tokens, a proxy does not. */
const AUTHENTICATED = 'system:authenticated';
/** Names of the cluster's own: a proxy could give everything away with one of them. */
const RESERVED = 'system:';

/** Whether a request comes from a proxy that may name users. */
export function isProxyAddress(addresses: readonly string[], address: string | undefined): boolean {
  if (address === undefined || isIP(address) === 0) return false;
  const list = new BlockList();
  for (const cidr of addresses) {
    const [network = '', prefix = ''] = cidr.split('/');
    list.addSubnet(network, Number(prefix), familyOf(network));
  }
  return list.check(address, familyOf(address));
}

/**
 * The user that a proxy names, or why it names none. Groups that begin with `system:` are left out, and a user of such a name
 * is refused.
 */
export function userOfHeaders(
  headers: IncomingHttpHeaders,
  { uiProxyUserHeader, uiProxyGroupsHeader }: ProxySettings,
): ReviewedUser | { readonly refusal: string } {
  const username = headerOf(headers, uiProxyUserHeader);
  if (username === '') return { refusal: `the proxy sends no user in the header ${uiProxyUserHeader}` };
  // A header that is sent twice arrives as a list: one of its users was added by the client.
  if (username.includes(',')) return { refusal: `the header ${uiProxyUserHeader} names more than one user` };
  if (username.startsWith(RESERVED))
    return { refusal: `a user of a proxy cannot have a name that begins with "${RESERVED}"` };
  const groups = headerOf(headers, uiProxyGroupsHeader)
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '' && !group.startsWith(RESERVED));
  return { username, groups: [...new Set(groups), AUTHENTICATED] };
}

/** Empty for a header that is not sent. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  return (Array.isArray(value) ? value.join(',') : (value ?? '')).trim();
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
