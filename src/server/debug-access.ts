/**
 * Wrappers around the handler of the debug endpoint: `withAudit` logs who changes something, `withToken` guards the TCP
 * listener. They know nothing about routes.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from '@addon-operator/base/log';
import { errorResponse } from '@addon-operator/http-server/response';
import type { RequestHandler, RequestOrigin } from '@addon-operator/http-server/serve';

/** The user at the other end of a connection; undefined where the system does not say. */
export type PeerUid = (connection: RequestOrigin['connection']) => Promise<number | undefined>;

/** Limit of a form field, so that one request cannot fill the log. */
const MAX_LOGGED_CHARACTERS = 256;

/**
 * Logs every request that may change something, with the user it comes from, before it is carried out: the request may
 * be one to log less. A request that fails is logged again with its status.
 */
export function withAudit(handler: RequestHandler, peerUid: PeerUid, log: Logger): RequestHandler {
  return async (request, signal, origin) => {
    if (request.method === 'GET') return await handler(request, signal, origin);
    const { method, path, body } = request;
    const uid = (await peerUid(origin.connection)) ?? 'unknown';
    const form = [...new URLSearchParams(body)].map(
      ([name, value]) =>
        [name.slice(0, MAX_LOGGED_CHARACTERS), value.slice(0, MAX_LOGGED_CHARACTERS)] as const,
    );
    const record = { 'peer.uid': uid, method, path, form: Object.fromEntries(form) };
    log.info(record, 'change requested over the debug socket');
    const response = await handler(request, signal, origin);
    if (response.status >= 400)
      log.info({ ...record, status: response.status }, 'change over the debug socket failed');
    return response;
  };
}

/** Accepts only requests with the bearer token. If the token file cannot be read, all requests are rejected. */
export function withToken(
  handler: RequestHandler,
  readToken: () => Promise<string>,
  log: Logger,
): RequestHandler {
  return async (request, signal, origin) => {
    const expected = await readToken().catch((error: unknown) => {
      log.error({ error }, 'cannot read the token of the debug endpoint, its requests are refused');
      return undefined;
    });
    const given = bearerToken(origin.headers.authorization);
    if (expected === undefined || given === undefined || !isSameToken(given, expected))
      return errorResponse(
        401,
        'REQUEST_REFUSED',
        '401 unauthorized: send the header "Authorization: Bearer TOKEN"',
      );
    return await handler(request, signal, origin);
  };
}

/** The token in a header `Authorization`. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Digests have one length, so the comparison takes equally long for every token. */
export function isSameToken(given: string, expected: string): boolean {
  const digest = (token: string): Buffer => createHash('sha256').update(token).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
