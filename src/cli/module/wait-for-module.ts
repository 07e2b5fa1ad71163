import { codeOf, ERROR_CODES, type ErrorCode, hasCode, messageOf } from '@addon-operator/base/errors';
import { fieldsOf, parseJson, stringOf, stringsOf } from '@addon-operator/json';
import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, fail } from '../cli-host.ts';
import { harmless } from '../harmless.ts';

const POLL_MS = 500;

export interface ModuleWait {
  readonly name: string;
  readonly wanted: string;
  readonly timeoutMs: number;
}

export interface SocketSource {
  /** Finds the socket: that of a sandbox appears when it starts. */
  readonly socketPath: () => Promise<string>;
  /** Whether no socket will appear, because another replica leads. */
  readonly isStandby: () => Promise<boolean>;
}

/**
 * Waits until a module has a status and returns the exit code: 1 if it has not in time. A module that does not exist yet,
 * and an operator that does not respond yet, are waited for as well.
 *
 * @throws OperatorError DEBUG_SOCKET in a standby
 */
export async function waitForModule(
  { name, wanted, timeoutMs }: ModuleWait,
  { socketPath, isStandby }: SocketSource,
  host: CliHost,
): Promise<number> {
  const { clock } = host;
  const stop = host.stopSignal();
  const endMs = clock.steadyMs() + timeoutMs;
  for (;;) {
    const state = await stateOf(name, socketPath, host, stop).catch(async (error: unknown) => {
      if (hasCode(error, 'DEBUG_SOCKET') && (await isStandby())) throw error;
      return { status: '', text: messageOf(error), code: codeOf(error) };
    });
    if (state.status === wanted) {
      host.stdout.write(harmless(`module ${name} is ${wanted}\n`));
      return 0;
    }
    const leftMs = endMs - clock.steadyMs();
    if (leftMs <= 0 || stop.aborted)
      return fail(
        host,
        `module ${name} is not ${wanted} ${stop.aborted ? 'yet' : 'in time'}: ${state.text}`,
        state.code ?? 'REQUEST_REFUSED',
      );
    await clock.sleep(Math.min(POLL_MS, leftMs), stop).catch(() => undefined);
  }
}

/** The state of a module now; `code` is that of the error in its way, if there is one. */
interface WaitedModule {
  readonly status: string;
  readonly text: string;
  readonly code: ErrorCode | undefined;
}

function errorCode(text: unknown): ErrorCode | undefined {
  return ERROR_CODES.find((known) => known === text);
}

async function stateOf(
  name: string,
  socketPath: () => Promise<string>,
  host: CliHost,
  signal: AbortSignal,
): Promise<WaitedModule> {
  const path = `/api/v1/modules/${encodeURIComponent(name)}`;
  const {
    status,
    body,
    code: refusal,
  } = await requestDebug({ socketPath: await socketPath(), path }, host.clock, signal);
  if (status !== 200) return { status: '', text: body, code: errorCode(refusal) };
  const data = fieldsOf(parseJson(body));
  const failure = fieldsOf(data['failure']);
  const code = errorCode(failure['code']);
  const [nearest] = stringsOf(data['waitsFor']);
  const error = stringOf(failure['error']);
  const why = error || (nearest === undefined ? stringOf(data['reason']) : `it waits for ${nearest}`);
  return { status: stringOf(data['status']), text: `it is ${stringOf(data['status'])}: ${why}`, code };
}
