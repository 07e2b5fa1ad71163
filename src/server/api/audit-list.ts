/** A request for an action, with its result. */
export interface AuditEntry {
  /** RFC 3339 in UTC. */
  readonly time: string;
  /** The client, such as `page (alice@example.org)`. */
  readonly by: string;
  readonly action: string;
  /** Such as `module web`, `queue main`, `hook web/hooks/a.sh` or `all modules`. */
  readonly target: string;
  /** Empty if none was given. */
  readonly reason: string;
  /** `refused`: the operator refused it, as its state is. `failed`: an error, such as one of the API server. */
  readonly result: 'accepted' | 'refused' | 'failed';
  /** For people. */
  readonly message: string;
}

const MAX_ENTRIES = 200;

/**
 * The last 200 requests for actions, in memory. Requests of clients that lack the permission are only logged: otherwise
 * such a client could push all others out of the list.
 */
export class AuditList {
  readonly #entries: AuditEntry[] = [];

  add(entry: AuditEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  /** The newest first. */
  get entries(): readonly AuditEntry[] {
    return this.#entries.toReversed();
  }
}
