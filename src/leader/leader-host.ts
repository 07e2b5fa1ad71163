/** Parses the identity of a leader, `<pod>.<IP with dashes>.<namespace>.pod`. */

import { isIP } from 'node:net';

const HOLDER = /^(?<pod>.*)\.(?<address>[\da-fA-F-]+)\.[^.]+\.pod$/;

/** Name of the pod that holds the lease: the first part of the holder's name, or all of it for a holder in no pod. */
export function leaderPod(identity: string): string {
  return HOLDER.exec(identity)?.groups?.['pod'] ?? identity;
}

/**
 * Where the holder of the lease is reached: the address in its name, `<pod>.<IP with dashes>.<namespace>.pod`, since not
 * every DNS server of a cluster has records of pods. A holder without one is reached by its name.
 *
 * @param identity of the holder
 */
export function leaderHost(identity: string): string {
  const dashed = HOLDER.exec(identity)?.groups?.['address'] ?? '';
  return ['.', ':'].map((mark) => dashed.replaceAll('-', mark)).find((host) => isIP(host) !== 0) ?? identity;
}
