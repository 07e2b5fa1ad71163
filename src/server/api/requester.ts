/**
 * The client of a request of the API, and what it may do. The debug socket and the page create one for each request; the
 * routes and the actions call `requireAccess` and `refusalOf`.
 */

import { RequestRefusal } from './request-refusal.ts';

/** How a client proved who it is. */
export type SignInMode = 'socket' | 'token' | 'kubernetes' | 'proxy';

/** Who a client is. */
export interface ClientIdentity {
  readonly signIn: SignInMode;
  /** Empty where one secret is shared by all clients. */
  readonly user: string;
  readonly groups: readonly string[];
  /** When the sign-in ends, in RFC 3339; null if it has no known end. */
  readonly expiresAt: string | null;
}

/** An access as RBAC rules about `modules.addon-operator.io` have it. */
export interface ModuleAccess {
  /** Such as `get` or `reconcile`. */
  readonly verb: string;
  /** Undefined: all modules. */
  readonly module: string | undefined;
  /** For merged values and the output of runs, which may hold more than a state. */
  readonly subresource?: 'values';
}

/** The client of a request: its name in logs and Events, and what it may do. */
export interface Requester {
  /** Such as `page`, or `page (alice@example.org)` for a person who signed in. */
  readonly by: string;
  readonly identity: ClientIdentity;
  /** Whether actions are switched on for this kind of client. */
  readonly allowsActions: boolean;
  /**
   * Set where a decision may change while a stream is open: the stream checks again at this interval, and ends at this time
   * on the wall clock; the client then connects again.
   */
  readonly session?: { readonly recheckMs: number; readonly endsAtMs: number } | undefined;
  /**
   * Why the client may not do this; undefined if it may.
   *
   * @param verb as in RBAC rules about `modules.addon-operator.io`, such as `reconcile`
   * @param module undefined for an action on the operator as a whole
   * @throws RequestRefusal when nobody can say whether it may, or when the sign-in has ended
   */
  readonly refusalOf: (
    verb: string,
    module: string | undefined,
    signal: AbortSignal,
    subresource?: ModuleAccess['subresource'],
  ) => Promise<string | undefined>;
}

/** A client whose access was decided when it connected, such as one of the debug socket. */
export function trustedRequester(
  by: string,
  { signIn = 'socket', allowsActions = true }: { signIn?: SignInMode; allowsActions?: boolean } = {},
): Requester {
  const identity = { signIn, user: '', groups: [], expiresAt: null };
  return { by, identity, allowsActions, refusalOf: () => Promise.resolve(undefined) };
}

/** @throws RequestRefusal 403 when the client may not do this, and what `refusalOf` throws */
export async function requireAccess(
  requester: Requester,
  { verb, module, subresource }: ModuleAccess,
  signal: AbortSignal,
): Promise<void> {
  const refusal = await requester.refusalOf(verb, module, signal, subresource);
  if (refusal !== undefined) throw new RequestRefusal(403, 'REQUEST_REFUSED', refusal);
}
