// Programs that know accounts: the helpers of docker (`docker-credential-NAME get`), and the credential providers of the
// kubelet, with which clouds give workloads their identity.

import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import {
  type Credential,
  type CredentialSource,
  type CredentialsByPattern,
  credentialFor,
} from './registry-credentials.ts';

/** Runs a program to its end. Its stderr is not returned: it may hold secrets. */
export type RunPlugin = (
  program: string,
  args: readonly string[],
  stdin: string,
  signal: AbortSignal,
) => Promise<{ readonly exitCode: number; readonly stdout: string }>;

interface Provided {
  readonly cacheKey: string;
  readonly expiresMs: number;
  readonly byPattern: CredentialsByPattern;
}

const API_VERSION = 'credentialprovider.kubelet.k8s.io/v1';
/** Of a provider that names no duration, as the kubelet takes it from its own configuration. */
const DEFAULT_CACHE_MS = 300_000;
/** The name of a user that says that the secret is a refresh token. */
const TOKEN_USER = '<token>';
const NOT_FOUND = 'credentials not found';

/** @param server the host, as the helper stored it @returns undefined if it has none */
export async function helperCredential(
  helper: string,
  server: string,
  run: RunPlugin,
  signal: AbortSignal,
): Promise<Credential | undefined> {
  const program = `docker-credential-${helper}`;
  const { exitCode, stdout } = await run(program, ['get'], server, signal);
  if (exitCode !== 0 && stdout.startsWith(NOT_FOUND)) return undefined;
  if (exitCode !== 0) throw failure(program, `it exited with ${exitCode}; run it manually to see why`);
  const { Username: username, Secret: secret } = parse(stdout, program);
  if (typeof username !== 'string' || typeof secret !== 'string')
    throw failure(program, 'its output lacks Username or Secret');
  return username === TOKEN_USER ? { identityToken: secret } : { username, password: secret };
}

/**
 * The accounts that a credential provider of the kubelet returns, kept as long as it says and for what it says: the image, the
 * registry, or everything.
 *
 * @param program its path
 */
export function kubeletCredentialProvider(
  program: string,
  { run, clock }: { readonly run: RunPlugin; readonly clock: SteadyClock },
): CredentialSource {
  const cache = new Map<string, Provided>();
  return async (image, signal) => {
    const registry = image.split('/')[0] ?? '';
    const nowMs = clock.steadyMs();
    for (const [key, { expiresMs }] of cache) if (expiresMs <= nowMs) cache.delete(key);
    const keys = [`Image ${image}`, `Registry ${registry}`, 'Global '];
    const known = keys.map((key) => cache.get(key)).find((entry) => entry !== undefined);
    if (known !== undefined) return credentialFor(image, known.byPattern);
    const request = { apiVersion: API_VERSION, kind: 'CredentialProviderRequest', image };
    const { exitCode, stdout } = await run(program, [], JSON.stringify(request), signal);
    if (exitCode !== 0) throw failure(program, `it exited with ${exitCode}`);
    const provided = readResponse(parse(stdout, program), { program, image, registry, nowMs });
    if (provided.expiresMs > nowMs) cache.set(provided.cacheKey, provided);
    return credentialFor(image, provided.byPattern);
  };
}

function readResponse(
  response: Readonly<Record<string, unknown>>,
  of: { readonly program: string; readonly image: string; readonly registry: string; readonly nowMs: number },
): Provided {
  const { apiVersion, kind, cacheKeyType, cacheDuration, auth } = response;
  if (apiVersion !== API_VERSION || kind !== 'CredentialProviderResponse') {
    throw failure(of.program, `its output is not a CredentialProviderResponse of ${API_VERSION}`);
  }
  const suffix = { Image: of.image, Registry: of.registry, Global: '' }[String(cacheKeyType)];
  if (suffix === undefined) throw failure(of.program, 'cacheKeyType is neither Image, Registry nor Global');
  const durationMs = typeof cacheDuration === 'string' ? parseGoDuration(cacheDuration) : DEFAULT_CACHE_MS;
  if (durationMs === undefined) throw failure(of.program, 'cacheDuration is not a duration');
  const byPattern = Object.entries(fieldsOf(auth)).flatMap(([pattern, entry]) => {
    const { username, password } = fieldsOf(entry);
    return typeof username === 'string' && typeof password === 'string'
      ? [[pattern, { username, password }]]
      : [];
  });
  return {
    cacheKey: `${String(cacheKeyType)} ${suffix}`,
    expiresMs: of.nowMs + durationMs,
    byPattern: Object.fromEntries(byPattern),
  };
}

/** The message of a SyntaxError would quote the output. */
function parse(stdout: string, program: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(stdout));
  } catch {
    throw failure(program, 'its output is not JSON');
  }
}

function failure(program: string, problem: string): OperatorError {
  return new OperatorError('REGISTRY_REFUSED', `Cannot get credentials from ${program}: ${problem}`);
}
