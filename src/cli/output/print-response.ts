import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, printCode } from '../cli-host.ts';
import type { DebugCall } from '../daemon/debug-call.ts';
import { harmless } from '../harmless.ts';

const FIRST_ERROR_STATUS = 400;

/**
 * Prints the response of the debug endpoint and returns the exit code: 1 when the endpoint answers with an error, which is
 * printed to stderr with its code. No control character reaches a terminal. A successful change prints an empty line.
 *
 * @param toText how a success is shown; absent: as it is
 * @throws OperatorError DEBUG_SOCKET when there is no response in time
 */
export async function printResponse(
  socketPath: string,
  call: DebugCall,
  host: CliHost,
  toText: (body: string) => string = (body) => body,
): Promise<number> {
  const { status, body, code } = await requestDebug({ socketPath, ...call }, host.clock);
  const isFailure = status >= FIRST_ERROR_STATUS;
  const text = isFailure ? body : toText(body);
  // A pipe gets what the operator sent, byte for byte.
  const shown = isFailure || host.stdout.isTTY === true ? harmless(text) : text;
  const isEmptyResponse = shown === '' && call.form === undefined;
  (isFailure ? host.stderr : host.stdout).write(
    shown.endsWith('\n') || isEmptyResponse ? shown : `${shown}\n`,
  );
  if (isFailure && code !== undefined) printCode(host, code);
  return isFailure ? 1 : 0;
}
