/** The process that runs helm, as written into a release label: `<host>.<pid>.<random>`, fit for a label value. */
export interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
}

/** A person's clock and the API server's may differ, and helm needs a moment to write its result. */
const MARGIN_MS = 60_000;

/**
 * Our own identity as a holder.
 *
 * @param hostHash short hash of the host's name, `[a-z0-9]`
 * @param nonce text that no other process on this host has, `[a-z0-9]`
 */
export function createHolder(hostHash: string, pid: number, nonce: string): Holder {
  return { token: `${hostHash}.${pid}.${nonce}`, host: hostHash, pid };
}

export interface PendingFacts {
  /** The holder label of the pending revision; undefined when we did not start it. */
  readonly holder: string | undefined;
  /** Since when the revision is pending, in ms since the epoch. */
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly helmTimeoutMs: number;
}

/**
 * Whether somebody may still be working on a pending revision.
 *
 * Another operator process on another host counts as dead: only one may act at a time (by its Lease, or by the
 * Recreate strategy). On this host its process is looked at. A helm of unknown origin is left alone until its
 * time-out and a margin have passed.
 */
export function isLockAlive(
  pending: PendingFacts,
  self: Holder,
  isProcessAlive: (pid: number) => boolean,
): boolean {
  if (pending.holder === undefined) {
    return pending.nowMs - pending.sinceMs < pending.helmTimeoutMs + MARGIN_MS;
  }
  if (pending.holder === self.token) return false;
  const [host, pid] = pending.holder.split('.');
  if (host !== self.host || Number(pid) === self.pid) return false;
  return isProcessAlive(Number(pid));
}
