/** The client of a request for an action: its name in logs and Events, and what it may do. */
export interface Requester {
  /** Such as `page`, or `page (alice@example.org)` for a person who signed in. */
  readonly by: string;
  /**
   * Why the client may not do this; undefined if it may.
   *
   * @param verb as in RBAC rules about `modules.addon-operator.io`, such as `reconcile`
   * @param module undefined for an action on the operator as a whole
   */
  readonly refusalOf: (
    verb: string,
    module: string | undefined,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
}

/** A client whose access was decided when it connected, such as one of the debug socket. */
export function trustedRequester(by: string): Requester {
  return { by, refusalOf: () => Promise.resolve(undefined) };
}
