/**
 * Protection against server-side request forgery: which hosts and addresses HTTP hooks may connect to. Local addresses,
 * link-local ones (cloud metadata) and the API server are refused unless they are listed.
 */

import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Looks up all addresses of a name, as `dns.lookup` does. */
export type LookupAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

interface AllowedHostsOptions {
  /** Names, `*.` and the end of names, and addresses. */
  readonly entries: readonly string[];
  /** Addresses that are refused besides the local ones, such as that of the API server. */
  readonly refused?: readonly string[];
  /** Default: that of the system. */
  readonly lookup?: LookupAll;
}

/** Where nothing is that a hook could be: on this machine, on its link, and on no machine. */
const LOCAL_SUBNETS = [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
  // Unspecified, loopback, and the deprecated form of IPv4 addresses.
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
  // The forms that translators (NAT64) give to the addresses of IPv4 above.
  ['64:ff9b::', 104],
  ['64:ff9b::7f00:0', 104],
  ['64:ff9b::a9fe:0', 112],
  ['64:ff9b::e000:0', 99],
] as const;
/** Metadata services of clouds, which serve credentials, outside of the link-local range. */
const METADATA_ADDRESSES = ['100.100.100.200', 'fd00:ec2::254'];

/**
 * Decides to which hosts HTTP hooks are sent.
 *
 * An address is judged when it is connected to, after the name was resolved, and the connection goes to just that address:
 * a name server that returns another address the second time has no effect.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  readonly #endings: readonly string[];
  readonly #addresses = new BlockList();
  readonly #refused = new BlockList();
  readonly #isLocalhostAllowed: boolean;
  readonly #lookup: LookupAll;

  constructor({ entries, refused = [], lookup = systemLookup }: AllowedHostsOptions) {
    const names = entries.map(canonicalHost);
    this.#names = new Set(names);
    this.#endings = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
    for (const address of names) addAddress(this.#addresses, address);
    this.#isLocalhostAllowed = this.#names.has('localhost');
    for (const [network, prefix] of LOCAL_SUBNETS)
      this.#refused.addSubnet(network, prefix, familyOf(network));
    for (const address of [...METADATA_ADDRESSES, ...refused])
      addAddress(this.#refused, canonicalHost(address));
    this.#lookup = lookup;
  }

  /**
   * For a URL that an object in the cluster names: its host must be on the list.
   *
   * @throws Error naming the host and the setting
   */
  requireListed({ hostname }: URL): void {
    const host = canonicalHost(hostname);
    if (this.#names.has(host) || this.#endings.some((ending) => host.endsWith(ending))) return;
    throw new Error(
      `the host ${host} is not allowed for a URL that an object names: add it to --http-hook-allowed-hosts`,
    );
  }

  /**
   * For a URL whose host is an address, which needs no lookup. `URL` has normalized its notation.
   *
   * @throws Error naming the address and the setting
   */
  requireReachable({ hostname }: URL): void {
    const host = canonicalHost(hostname);
    if (isIP(host) !== 0) this.#judge(host, host);
  }

  /** Looks up a host for a connection; fails when any of its addresses is refused. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      try {
        for (const { address } of addresses) this.#judge(hostname, address);
      } catch (refusal) {
        return callback(asError(refusal), []);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  #judge(host: string, address: string): void {
    const family = familyOf(address);
    if (!this.#refused.check(address, family) || this.#addresses.check(address, family)) return;
    if (this.#isLocalhostAllowed && canonicalHost(host) === 'localhost') return;
    const where = host === address ? address : `${address}, which is what ${host} resolves to,`;
    throw new Error(
      `the address ${where} is not allowed for HTTP hooks: it is local to this machine or the cluster; to allow it, add ${address} to --http-hook-allowed-hosts`,
    );
  }
}

/** With these entries, and without the API server of the environment of a pod. */
export function allowedHosts(
  entries: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): AllowedHosts {
  const apiServer = env['KUBERNETES_SERVICE_HOST'];
  return new AllowedHosts({ entries, ...(apiServer !== undefined && { refused: [apiServer] }) });
}

/** In lower case, without the brackets of IPv6 and the dot at the end of a complete name. */
function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function addAddress(list: BlockList, text: string): void {
  if (isIP(text) !== 0) list.addAddress(text, familyOf(text));
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
