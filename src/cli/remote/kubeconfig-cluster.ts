/**
 * The API server of a kubeconfig, for commands on a laptop. The client library of Kubernetes reads the kubeconfig, because it
 * knows what people have there: several files, credential plug-ins, `proxy-url`, `tls-server-name`, impersonation. It costs
 * half a second, so only commands with a remote target import it.
 */

import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type Duplex, Writable } from 'node:stream';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, parseJson, stringOf } from '@addon-operator/json';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import { readBody } from '@addon-operator/kube-client/http-exchange';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { RemoteTarget } from './remote-arguments.ts';

/** A running container. */
export interface ContainerRef {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** How a command in a container ended, and the last part of what it wrote to stderr. */
export interface CommandEnd {
  readonly isSuccess: boolean;
  readonly stderr: string;
}

/** One API server with the identity of the kubeconfig's user. */
export interface RemoteCluster {
  /** Undefined where the context names none. */
  readonly namespace: string | undefined;
  /**
   * @throws KubeApiError for a refusal
   * @throws OperatorError KUBE_UNREACHABLE without a response, KUBE_CONFIG_INVALID where credentials cannot be had
   */
  get(path: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** Runs a command; ends when the command does, or with the error of {@link get}. `input`: undefined for none. */
  exec(
    container: ContainerRef,
    command: readonly string[],
    streams: { readonly input: Duplex | undefined; readonly output: Writable },
  ): Promise<CommandEnd>;
  /** Connects a stream with a port of a pod until one of the two ends it. */
  forward(pod: Omit<ContainerRef, 'container'>, port: number, stream: Duplex): Promise<void>;
}

const REQUEST_MS = 15_000;
const STDERR_BYTES = 8 * 1024;
const OK_STATUS = 200;
const FIRST_ERROR_STATUS = 300;

/**
 * Loads a kubeconfig: the file, else those of KUBECONFIG, else `~/.kube/config`, else the service account.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID
 */
export async function connectKubeconfig(
  { kubeconfig, context }: Pick<RemoteTarget, 'kubeconfig' | 'context'>,
  clock: SteadyClock,
): Promise<RemoteCluster> {
  const config = await loadConfig(kubeconfig, context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw invalid('no context is chosen: name one with --kube-context');
  const { server } = cluster;

  const options = async (): Promise<RequestOptions> => {
    const filled: RequestOptions = { headers: {} };
    try {
      await config.applyToHTTPSOptions(filled);
    } catch (error) {
      throw invalid(`credentials of the user cannot be had: ${messageOf(error)}`, error);
    }
    return filled;
  };
  const attached = async <T>(open: () => Promise<T>, what: string): Promise<T> => {
    // Before, so that a plug-in that fails is named.
    await options();
    return await open().catch((error: unknown) => {
      throw streamError(error, what, server);
    });
  };

  return {
    namespace: config.getContextObject(config.currentContext)?.namespace,
    get: async (target, signal) => {
      const url = new URL(`${server.replace(/\/$/u, '')}${target}`);
      const filled = await options();
      const error = () => unreachable(`no response within ${REQUEST_MS / 1000} s`, server);
      return await withDeadline({ clock, limitMs: REQUEST_MS, error }, signal, (limit) =>
        getJson(url, filled, limit),
      );
    },
    exec: async (container, command, { input, output }) => {
      const { Exec } = await import('@kubernetes/client-node/dist/exec.js');
      const stderr = new LastBytes();
      const ended = Promise.withResolvers<boolean>();
      const { namespace, pod } = container;
      const opened = await attached(
        async () =>
          await new Exec(config).exec(
            namespace,
            pod,
            container.container,
            [...command],
            output,
            stderr,
            input ?? null,
            false,
            ({ status }) => ended.resolve(status === 'Success'),
          ),
        `create pods/exec in namespace ${namespace}`,
      );
      opened.addEventListener('close', () => ended.resolve(false));
      output.on('close', () => opened.close());
      return { isSuccess: await ended.promise, stderr: stderr.text };
    },
    forward: async ({ namespace, pod }, port, stream) => {
      const { PortForward } = await import('@kubernetes/client-node/dist/portforward.js');
      const opened = await attached(
        async () => await new PortForward(config).portForward(namespace, pod, [port], stream, null, stream),
        `create pods/portforward in namespace ${namespace}`,
      );
      if (typeof opened === 'function') return;
      const ended = Promise.withResolvers<void>();
      opened.addEventListener('close', () => ended.resolve());
      stream.on('close', () => opened.close());
      await ended.promise;
      stream.end();
    },
  };
}

/** The configuration with the chosen context. */
async function loadConfig(path: string | undefined, context: string | undefined): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
  } catch (error) {
    throw invalid(`the kubeconfig ${path ?? ''} cannot be read: ${messageOf(error)}`, error);
  }
  const names = config.getContexts().map(({ name }) => name);
  if (context !== undefined && !names.includes(context))
    throw invalid(`it has no context "${context}"; its contexts are: ${names.join(', ') || 'none'}`);
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

/** Keeps the end of what is written. */
class LastBytes extends Writable {
  #kept = Buffer.alloc(0);

  get text(): string {
    return this.#kept.toString('utf8').trim();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-STDERR_BYTES);
    done();
  }
}

async function getJson(
  url: URL,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  request(url, { ...options, signal }, resolve)
    .on('error', reject)
    .end();
  try {
    const response = await promise;
    const text = (await readBody(response, signal)).toString('utf8');
    const { statusCode: status = 0 } = response;
    if (status >= OK_STATUS && status < FIRST_ERROR_STATUS) return fieldsOf(parseJson(text));
    throw refusal(status, text, `get ${url.pathname}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeApiError) throw error;
    throw unreachable(error, url.origin);
  }
}

function refusal(status: number, body: string, what: string): KubeApiError {
  let fields: Readonly<Record<string, unknown>> = {};
  try {
    fields = fieldsOf(parseJson(body));
  } catch {
    // A proxy in between responds with a page.
  }
  const message = stringOf(fields['message']) || `HTTP status ${status}`;
  return new KubeApiError(`Cannot ${what}: ${message}`, { status, reason: stringOf(fields['reason']) });
}

/** The library of web sockets has the status of a refusal in its message only. */
function streamError(error: unknown, what: string, server: string): OperatorError {
  const text = error instanceof Error ? error.message : stringOf(fieldsOf(error)['message']);
  const status = Number(/Unexpected server response: (\d+)/u.exec(text)?.[1] ?? 0);
  if (status === 0) return unreachable(error, server);
  return new KubeApiError(`Cannot ${what}: the API server responds with HTTP status ${status}`, {
    status,
    reason: '',
  });
}

function unreachable(error: unknown, server: string): OperatorError {
  return new OperatorError(
    'KUBE_UNREACHABLE',
    `the API server ${server} does not respond: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}

function invalid(problem: string, cause?: unknown): OperatorError {
  return new OperatorError('KUBE_CONFIG_INVALID', `Cannot use the Kubernetes configuration: ${problem}`, {
    cause,
  });
}
