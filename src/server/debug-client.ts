/**
 * The client side of the debug endpoint, for commands such as `status`, `queue list` or `module pause`. One request, one
 * response, with a limit of 30 s. Connection errors become DEBUG_SOCKET with advice on where the socket may be.
 */

import { type IncomingHttpHeaders, request } from 'node:http';
import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { ERROR_CODE_HEADER } from '@addon-operator/http-server/error-code-header';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { type ActionClient, CLIENT_HEADER } from './action-clients.ts';
import { socketErrorText } from './socket-error.ts';

/** No command of the endpoint takes long: a daemon that is silent for this long is stopped or hangs. */
const LIMIT_MS = 30_000;
/** From here on a response is a refusal or a failure. */
const FIRST_ERROR_STATUS = 400;

export interface DebugRequest {
  readonly socketPath: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as a form by POST; without it and `body` the request is a GET. */
  readonly form?: Readonly<Record<string, string>>;
  /** Sent as JSON by POST. */
  readonly body?: Readonly<Record<string, string>>;
  /** The requester of an action, if that is not a command; named in the log and the Event. */
  readonly client?: ActionClient;
}

export interface DebugResponse {
  readonly status: number;
  /** Of a refusal or failure its message. */
  readonly body: string;
  /** Of a refusal or failure; undefined for an older daemon. */
  readonly code: string | undefined;
}

/**
 * Sends a request to the debug endpoint of a running daemon.
 *
 * @throws OperatorError DEBUG_SOCKET when there is no socket, or no complete response within 30 s
 * @throws `signal.reason` on abort; without a signal only the limit ends the wait
 */
export async function requestDebug(
  { socketPath, path, form, body, client }: DebugRequest,
  clock: SteadyClock,
  signal?: AbortSignal,
): Promise<DebugResponse> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<DebugResponse>();
  const outgoing = request(
    {
      socketPath,
      path,
      method: form === undefined && body === undefined ? 'GET' : 'POST',
      // One connection for one request: a pooled one would keep the process of the command alive.
      agent: false,
      headers: {
        ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...(client && { [CLIENT_HEADER]: client }),
      },
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        const content = Buffer.concat(chunks).toString('utf8');
        resolve({
          status,
          body: status < FIRST_ERROR_STATUS ? content : messageIn(content),
          code: codeIn(headers),
        });
      });
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(body));
  const stop = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const responded = new AbortController();
  clock.sleep(LIMIT_MS, responded.signal).then(
    () => reject(new OperatorError('DEBUG_SOCKET', timeoutMessage(socketPath))),
    () => undefined,
  );
  try {
    return await promise;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OperatorError) throw error;
    throw new OperatorError('DEBUG_SOCKET', connectionProblem(socketPath, error), { cause: error });
  } finally {
    responded.abort();
    signal?.removeEventListener('abort', stop);
    // Also when the limit or the signal ended the wait: an open socket would keep the process alive.
    outgoing.destroy();
  }
}

/** The API writes its errors as JSON, all other routes as text. */
function messageIn(body: string): string {
  try {
    const { message } = fieldsOf(fieldsOf(parseJson(body))['error']);
    return typeof message === 'string' ? message : body;
  } catch {
    return body;
  }
}

/** Other processes may listen on the socket, so only a word that looks like a code is one. */
function codeIn(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[ERROR_CODE_HEADER.toLowerCase()];
  return typeof value === 'string' && /^[A-Z][A-Z_]*$/.test(value) ? value : undefined;
}

/** The message for a daemon that accepts a connection and does not respond. */
function timeoutMessage(socketPath: string): string {
  return `the daemon on the debug socket '${socketPath}' does not respond within ${LIMIT_MS / 1_000} s: it accepts connections, but it is stopped (SIGSTOP, a debugger) or busy; check its state with ps, then retry`;
}

/** The message for a socket that cannot be connected to. */
export function connectionProblem(socketPath: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return `no operator runs here: there is no debug socket '${socketPath}'. For one in a cluster, begin with its namespace: addon-operator -n NAMESPACE status (docs/remote.md); a sandbox is found from its working directory; --debug-unix-socket (ADDON_OPERATOR_DEBUG_SOCKET) names another socket`;
  if (code === 'ECONNREFUSED')
    return `no process responds on the debug socket '${socketPath}': is the daemon running?`;
  return `cannot use the debug socket '${socketPath}': ${socketErrorText(error)}`;
}
