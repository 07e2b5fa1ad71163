import { OperatorError } from '@addon-operator/base/errors';
import { shown } from './registry-connections.ts';
import type { TokenUse } from './token-cache.ts';

/** The token servers of registries that are known to be elsewhere. */
const KNOWN_REALMS: Readonly<Record<string, string>> = { 'registry-1.docker.io': 'auth.docker.io' };

/**
 * The token server that a registry refers to.
 *
 * @throws OperatorError REGISTRY_REFUSED for one that must not get the credentials of this registry
 */
export function tokenRealm(
  { realm, credential }: Pick<TokenUse, 'realm' | 'credential'>,
  { base, host }: { readonly base: URL; readonly host: string },
): URL {
  const refuse = (problem: string): OperatorError => {
    const server = URL.canParse(realm) ? shown(new URL(realm)) : 'what it calls its realm';
    return new OperatorError('REGISTRY_REFUSED', `${host} refers to the token server ${server}: ${problem}`);
  };
  if (!/^https?:/.test(realm) || !URL.canParse(realm)) throw refuse('that is no URL');
  const url = new URL(realm);
  if (base.protocol === 'https:' && url.protocol !== 'https:')
    throw refuse('it has no TLS, unlike the registry');
  const isKnown = [base.hostname, KNOWN_REALMS[base.hostname]].includes(url.hostname);
  if (credential === undefined || isKnown || areRelated(url.hostname, base.hostname)) return url;
  throw refuse('it is of another domain and gets no credentials');
}

/** Whether one is a subdomain of the other, which is more than a top-level domain. */
function areRelated(one: string, other: string): boolean {
  const isBelow = (child: string, parent: string): boolean =>
    parent.includes('.') && !/^[\d.]+$|^\[/.test(parent) && child.endsWith(`.${parent}`);
  return isBelow(one, other) || isBelow(other, one);
}
