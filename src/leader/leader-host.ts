import { isIP } from 'node:net';

/**
 * Where the holder of the lease is reached: the address in its name, `<pod>.<IP with dashes>.<namespace>.pod`, since not
 * every DNS server of a cluster has records of pods. A holder without one is reached by its name.
 *
 * @param identity of the holder
 */
export function leaderHost(identity: string): string {
  const [, dashed = ''] = /\.([\da-fA-F-]+)\.[^.]+\.pod$/.exec(identity) ?? [];
  return ['.', ':'].map((mark) => dashed.replaceAll('-', mark)).find((host) => isIP(host) !== 0) ?? identity;
}
