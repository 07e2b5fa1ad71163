/** The process that runs helm, as written into a release label: `<host>.<pid>.<random>`, fit for a label value. */
export interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
}

/**
 * Our own identity as a holder.
 *
 * @param hostHash short hash of the host's name, `[a-z0-9]`
 * @param nonce text that no other process on this host has, `[a-z0-9]`
 */
export function createHolder(hostHash: string, pid: number, nonce: string): Holder {
  return { token: `${hostHash}.${pid}.${nonce}`, host: hostHash, pid };
}

/**
 * Whether another operator process may still be at work, by the token it has left. One on another host counts as dead:
 * only one may act at a time (by its Lease, or by the Recreate strategy). On this host its process is looked at. Our
 * own token means a helm that has ended: for each release there is one at a time.
 */
export function isHolderAlive(
  token: string,
  self: Holder,
  isProcessAlive: (pid: number) => boolean,
): boolean {
  if (token === self.token) return false;
  const [host, pid] = token.split('.');
  if (host !== self.host || Number(pid) === self.pid) return false;
  return isProcessAlive(Number(pid));
}
