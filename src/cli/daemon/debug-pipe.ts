import { connect } from 'node:net';
import { OperatorError } from '@addon-operator/base/errors';
import { connectionProblem } from '../../server/debug-client.ts';
import type { CliHost } from '../cli-host.ts';

/**
 * Connects stdin and stdout with the debug socket until the operator closes it. Commands with a remote target run this in the
 * pod.
 *
 * @throws OperatorError DEBUG_SOCKET
 */
export async function pipeDebugSocket(
  socketPath: string,
  { stdin, stdout }: Pick<CliHost, 'stdin' | 'stdout'>,
): Promise<number> {
  const socket = connect(socketPath).setEncoding('utf8');
  stdin?.pipe(socket);
  try {
    for await (const text of socket) stdout.write(String(text));
    return 0;
  } catch (error) {
    throw new OperatorError('DEBUG_SOCKET', connectionProblem(socketPath, error), { cause: error });
  } finally {
    socket.destroy();
    stdin?.destroy();
  }
}
