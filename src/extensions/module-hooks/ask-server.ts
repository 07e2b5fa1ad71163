import type { AllowedHosts } from '../../hooks/http/allowed-hosts.ts';
import type { HttpAnswer } from '../../hooks/http/http-answer.ts';
import { shownUrl } from '../../hooks/http/http-endpoint.ts';
import { isUntrusted } from '../../hooks/http/http-hooks.ts';
import { MAX_REQUEST_BYTES, postToHook } from '../../hooks/http/post-hook.ts';
import { withDeadline } from '../../kube/deadline.ts';
import type { SteadyClock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { OperatorError } from '../../lib/errors.ts';
import { addressTitle, type ModuleHook } from '../../modules/module-hook.ts';
import { type ResolverDeps, resolveAddress } from './resolve-address.ts';

export interface ServerDeps extends ResolverDeps {
  readonly clock: SteadyClock;
  readonly hosts: AllowedHosts;
  /** Stands in the User-Agent. */
  readonly version: string;
  /** Called before a request is sent; what it throws keeps that from being done. */
  readonly check: () => void;
}

/** An answer, and where it came from, for messages. */
export interface ServerAnswer {
  readonly answer: HttpAnswer;
  readonly from: string;
}

const NO_CREDENTIALS = { authorization: undefined, secureContext: undefined };

/**
 * Sends a body to the server of a module, and gives what it answers, whatever that is.
 *
 * @param title what is asked for, for messages
 * @throws OperatorError HOOK_TIMEOUT, or HOOK_FAILED when there is no server or no whole answer; another try may help
 * @throws `signal.reason` on abort; the connection is closed
 */
export async function askServer(
  deps: ServerDeps,
  { address, timeoutMs: limitMs }: ModuleHook,
  { title, body }: { readonly title: string; readonly body: string },
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { clock, version, check, hosts } = deps;
  check();
  let from = addressTitle(address);
  const failure = (why: string, cause?: unknown): OperatorError =>
    new OperatorError('HOOK_FAILED', `${title} failed: POST ${from}: ${why}`, { cause });
  if (Buffer.byteLength(body) > MAX_REQUEST_BYTES)
    throw failure(`the objects of the module are larger than ${MAX_REQUEST_BYTES} bytes`);
  const error = (): Error =>
    new OperatorError('HOOK_TIMEOUT', `${title} got no response within ${limitMs / 1_000} s: POST ${from}`);
  return await withDeadline({ clock, limitMs, error }, signal, async (signal) => {
    try {
      const url = await resolveAddress(deps, address, signal);
      from = shownUrl(url);
      if (address.type === 'ref') hosts.requireListed(url);
      const headers = { 'user-agent': `addon-operator/${version}` };
      const answer = await postToHook(
        { url, body, headers, credentials: NO_CREDENTIALS, clock, hosts },
        signal,
      );
      return { answer, from };
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw failure(connectionText(cause), cause);
    }
  });
}

function connectionText(error: unknown): string {
  const text = errorText(error);
  return isUntrusted(error)
    ? `${text}; set the variable NODE_EXTRA_CA_CERTS of the operator to the certificate authority of the server`
    : text;
}
