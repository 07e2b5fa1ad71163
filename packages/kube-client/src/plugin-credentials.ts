import type { RequestOptions } from 'node:https';
import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { isObject } from '@addon-operator/json';
import type { PluginUser } from './cluster-access.ts';
import type { Credentials, PluginCredentials } from './credentials.ts';
import { withDeadline } from './deadline.ts';

/** A plug-in may wait for a user at a browser. */
const LIMIT_MS = 60_000;

/** The part of the client library that we use: fills `headers`, `cert` and `key` of the options. */
interface Authenticator {
  applyTo(options: RequestOptions): Promise<void>;
}

/**
 * Credentials of a kubeconfig user with `exec` or `auth-provider`, made by the Kubernetes client library, which is
 * imported here only. They are kept until they expire or are refused; one making may take 60 s.
 *
 * The result throws OperatorError KUBE_CONFIG_INVALID, without the plug-in's output, which may hold secrets.
 */
export async function loadPluginCredentials(
  user: PluginUser,
  clock: SteadyClock,
): Promise<PluginCredentials> {
  let authenticator = await createAuthenticator(user);
  return async (isForced, signal) => {
    // The library keeps a token until it expires; only a new object runs the plug-in again.
    if (isForced) authenticator = await createAuthenticator(user);
    const options: RequestOptions = { headers: {} };
    const limit = {
      clock,
      limitMs: LIMIT_MS,
      error: () => failure(user, `no response within ${LIMIT_MS / 1000} s`),
    };
    try {
      await withDeadline(limit, signal, (signal) => resultOrAbort(authenticator.applyTo(options), signal));
    } catch (error) {
      if (signal.aborted || error instanceof OperatorError) throw error;
      throw failure(user, 'it failed; run it manually to see why');
    }
    return credentialsOf(options);
  };
}

/** Loads the part of the client library that the user entry needs. */
async function createAuthenticator(user: PluginUser): Promise<Authenticator> {
  const { name, exec, authProvider } = user;
  if (exec !== undefined) {
    // This file alone costs 3 ms; the entry of the package 450 ms and 80 MB (docs/adr/001).
    const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
    const plugin = new ExecAuth();
    const description = { ...exec, env: withExecInfo(exec) };
    return { applyTo: (options) => plugin.applyAuthentication({ name, exec: description }, options) };
  }
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, server: 'https://localhost' }],
    users: [{ name, authProvider }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  });
  return { applyTo: (options) => config.applyToHTTPSOptions(options) };
}

/** Plug-ins read from this variable which version of the output we expect; the library does not set it. */
function withExecInfo(exec: Readonly<Record<string, unknown>>): readonly unknown[] {
  const info = {
    apiVersion: exec['apiVersion'],
    kind: 'ExecCredential',
    spec: { interactive: false },
  };
  const own = Array.isArray(exec['env']) ? exec['env'] : [];
  return [{ name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }, ...own];
}

/** The fields that the library has filled in. */
function credentialsOf(options: RequestOptions): Credentials {
  const headers: unknown = options.headers;
  const authorization = isObject(headers) ? headers['Authorization'] : undefined;
  const { cert, key } = options;
  return {
    ...(typeof authorization === 'string' ? { authorization } : {}),
    ...(typeof cert === 'string' ? { cert } : {}),
    ...(typeof key === 'string' ? { key } : {}),
  };
}

function failure(user: PluginUser, problem: string): OperatorError {
  const kind = user.exec === undefined ? 'auth-provider' : 'exec plug-in';
  return new OperatorError(
    'KUBE_CONFIG_INVALID',
    `Cannot get credentials of user "${user.name}" from its ${kind}: ${problem}`,
  );
}
