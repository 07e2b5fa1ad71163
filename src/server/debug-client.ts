import { request } from 'node:http';
import { messageOf, OperatorError } from '../lib/errors.ts';

export interface DebugRequest {
  readonly socketPath: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as a form by POST; without it the request is a GET. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface DebugResponse {
  readonly status: number;
  readonly body: string;
}

/**
 * Asks the debug endpoint of a running daemon.
 *
 * @throws OperatorError DEBUG_SOCKET when there is no socket or nobody answers
 */
export async function requestDebug({ socketPath, path, form }: DebugRequest): Promise<DebugResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<DebugResponse>();
  const outgoing = request(
    {
      socketPath,
      path,
      method: form === undefined ? 'GET' : 'POST',
      agent: false,
      ...(form && { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    },
  );
  outgoing.on('error', reject);
  outgoing.end(form && new URLSearchParams(form).toString());
  try {
    return await promise;
  } catch (error) {
    throw new OperatorError('DEBUG_SOCKET', whyNot(socketPath, error), { cause: error });
  }
}

function whyNot(socketPath: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return `debug socket '${socketPath}' is not exists: is the daemon running? Name its socket with --debug-unix-socket (DEBUG_UNIX_SOCKET); npm start keeps it in .sandbox/debug.socket`;
  if (code === 'ECONNREFUSED')
    return `nobody answers on the debug socket '${socketPath}': is the daemon running?`;
  return `cannot use the debug socket '${socketPath}': ${messageOf(error)}`;
}
