import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, failWith } from '../cli-host.ts';
import type { DebugCall } from '../daemon/debug-call.ts';
import { harmless } from '../harmless.ts';

const FIRST_ERROR_STATUS = 400;

/** How a success is shown. */
export interface ResponseView {
  /** Default: the response as it is. */
  readonly toText?: (body: string) => string;
  /** Colours the text after it was made harmless, without another change to it. Default: none. */
  readonly paint?: (text: string) => string;
}

/**
 * Prints the response of the debug endpoint and returns the exit code: 1 when the endpoint answers with an error, which is
 * printed to stderr with its code. No control character reaches a terminal. A successful change prints an empty line.
 *
 * @throws OperatorError DEBUG_SOCKET when there is no response in time
 */
export async function printResponse(
  socketPath: string,
  call: DebugCall,
  host: CliHost,
  { toText = (body) => body, paint = (text) => text }: ResponseView = {},
): Promise<number> {
  const { status, body, code } = await requestDebug({ socketPath, ...call }, host.clock);
  if (status >= FIRST_ERROR_STATUS) return failWith(host, body, code);
  const text = toText(body);
  // A pipe gets what the operator sent, byte for byte.
  const shown = paint(host.stdout.isTTY === true ? harmless(text) : text);
  const isEmptyResponse = shown === '' && call.form === undefined;
  host.stdout.write(shown.endsWith('\n') || isEmptyResponse ? shown : `${shown}\n`);
  return 0;
}
