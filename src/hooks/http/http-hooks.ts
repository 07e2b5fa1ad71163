/**
 * Runs hooks that are HTTP servers. A run is one POST with contexts and values as JSON; the response contains what an
 * executable would have written to its files. Credentials come from Secrets and are read for each run. Hosts are checked
 * against an allow-list (`allowed-hosts.ts`), because the address may come from an object in the cluster.
 */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { type ErrorFacts, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import type { HookOutputContents, HookRunContents } from '@addon-operator/sdk/host';
import { contextText } from '../context-document.ts';
import { type Hook, moduleNameOf, title } from '../hook.ts';
import { permanentError, retryAfterHeaderMs, temporaryError } from '../retry-errors.ts';
import type { HookRunInputs, HookRunResult, HookRuns } from '../run-hook.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import { readCredentials, type SecretTexts } from './endpoint-credentials.ts';
import { type HookResponse, outputsOf, responseFailure } from './hook-response.ts';
import { type HttpEndpoint, HttpHookParser, secretsOf, shownUrl } from './http-endpoint.ts';
import { MAX_REQUEST_BYTES, postToHook } from './post-hook.ts';

/** Room for the parts of a request other than contexts and values. */
const REQUEST_HEAD_BYTES = 4_096;
/** Default limit of a run: a server that never responds must not block a queue for ever. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** Codes of connections that are refused because of the certificate of the server. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export interface HttpHooksOptions {
  readonly clock: Clock;
  readonly secrets: SecretTexts;
  /** Namespace of Secrets for which a hook names none. */
  readonly namespace: string;
  /** Limit for hooks that set none of their own, in milliseconds; undefined = 30 seconds. */
  readonly timeoutMs: number | undefined;
  readonly hosts: AllowedHosts;
  /** Sent in the User-Agent header. */
  readonly version: string;
  /** Called before a request is sent; what it throws keeps that from being done. */
  readonly check: (isAwaited?: boolean) => void;
}

/** Runs hooks that are servers: sends them what executables find in files, and takes what those would write. */
export class HttpHooks implements HookRuns {
  readonly #options: HttpHooksOptions;
  readonly #parser: HttpHookParser;
  readonly #endpoints = new Map<string, HttpEndpoint>();

  /** Where servers of hooks may be. */
  get hosts(): AllowedHosts {
    return this.#options.hosts;
  }

  constructor(options: HttpHooksOptions) {
    this.#options = options;
    this.#parser = new HttpHookParser(options.namespace);
  }

  /**
   * Reads a `.http.yaml` file anew and returns the configuration in it as JSON. Nothing is sent.
   *
   * @param log gets a warning where a token would go over the network unprotected
   * @throws OperatorError HOOK_CONFIG_INVALID when the file cannot be read, or its server section is invalid
   */
  async load(path: string, log: Logger): Promise<string> {
    const { endpoint, config } = await this.#read(path);
    if (endpoint.bearerToken !== undefined && endpoint.url.protocol === 'http:')
      log.warn(
        { path },
        'the bearer token of an HTTP hook is sent without encryption, since its address is http',
      );
    this.#endpoints.set(path, endpoint);
    this.#options.secrets.keepOnly([...this.#endpoints.values()].flatMap(secretsOf));
    return config;
  }

  /** The Secrets of all hooks that were loaded from one of these paths. */
  secretsOf(paths: readonly string[]): ReturnType<typeof secretsOf> {
    return paths.flatMap((path) => {
      const endpoint = this.#endpoints.get(path);
      return endpoint === undefined ? [] : secretsOf(endpoint);
    });
  }

  /**
   * Runs a hook once.
   *
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT, HOOK_OUTPUT_INVALID or SECRET_MISSING; nothing of the response is applied
   *   then
   * @throws `signal.reason` on abort; the connection is closed, what the server does is its own affair
   */
  async run(hook: Hook, inputs: HookRunInputs, log: Logger, signal: AbortSignal): Promise<HookRunResult> {
    this.#options.check(inputs.isAwaited);
    const endpoint = this.#endpoints.get(hook.path);
    if (endpoint === undefined)
      throw new OperatorError('INTERNAL', `${hook.path} is run before it was loaded`);
    const response = await this.#call(hook, endpoint, inputs, signal);
    log.debug({ status: response.status, responseBytes: response.body.length }, 'HTTP hook responded');
    const refusal = responseFailure(response, 'the file');
    if (refusal !== undefined) throw this.#refused(hook, endpoint, response, refusal);
    return { outputs: understood(hook, endpoint, response) };
  }

  #refused(
    hook: Hook,
    endpoint: HttpEndpoint,
    { status, retryAfter }: HookResponse,
    refusal: string,
  ): OperatorError {
    const { statusCodes } = hook.config.settings;
    const reason = `POST ${shownUrl(endpoint.url)}: ${refusal}`;
    if (statusCodes?.permanent.includes(status) === true) return permanentError(hook, reason, { status });
    if (statusCodes?.temporary.includes(status) !== true)
      return failure(hook, endpoint, refusal, undefined, { status });
    const afterMs = retryAfterHeaderMs(retryAfter, this.#options.clock.wallMs());
    return temporaryError(hook, { reason, afterMs }, { status });
  }

  async #read(path: string) {
    try {
      return this.#parser.parse(await readFile(path, 'utf8'), path);
    } catch (cause) {
      throw new OperatorError('HOOK_CONFIG_INVALID', `cannot load hook '${path}': ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  async #call(
    hook: Hook,
    endpoint: HttpEndpoint,
    inputs: HookRunInputs,
    signal: AbortSignal,
  ): Promise<HookResponse> {
    const { clock, secrets, version, hosts } = this.#options;
    const limitMs =
      endpoint.timeoutMs ?? hook.config.settings.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const error = (): Error =>
      new OperatorError(
        'HOOK_TIMEOUT',
        `${title(hook)} gave no response within ${limitMs / 1_000} s: POST ${shownUrl(endpoint.url)}`,
      );
    const body = requestBody(hook, { ...inputs, bindingContext: await contextText(inputs.bindingContext) });
    if (Buffer.byteLength(body) > MAX_REQUEST_BYTES)
      throw failure(
        hook,
        endpoint,
        `its contexts and values are larger than ${MAX_REQUEST_BYTES} bytes: use jqFilter with keepFullObjectsInMemory: false`,
      );
    return withDeadline({ clock, limitMs, error }, signal, async (signal) => {
      try {
        const credentials = await resultOrAbort(readCredentials(endpoint, secrets), signal);
        const headers = {
          'idempotency-key': inputs.idempotencyKey,
          'user-agent': `addon-operator/${version}`,
          ...(inputs.traceparent !== undefined && { traceparent: inputs.traceparent }),
        };
        return await postToHook({ url: endpoint.url, body, headers, credentials, clock, hosts }, signal);
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        if (cause instanceof OperatorError) throw inNameOf(hook, cause);
        throw failure(hook, endpoint, connectionText(cause), cause);
      }
    });
  }
}

/** Bytes of a request that are left for contexts. */
export function roomForContexts({
  values,
  configValues,
}: Pick<HookRunContents, 'values' | 'configValues'>): number {
  return MAX_REQUEST_BYTES - REQUEST_HEAD_BYTES - Buffer.byteLength(values) - Buffer.byteLength(configValues);
}

/** The texts are JSON already: as they are, every number stays exact. */
function requestBody(hook: Hook, { bindingContext, values, configValues }: HookRunContents): string {
  const head = {
    version: 'v1',
    runId: randomUUID(),
    hook: hook.name,
    ...(hook.owner.type === 'global' ? {} : { module: moduleNameOf(hook) }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"contexts":${bindingContext},"values":${values},"configValues":${configValues}}`;
}

function understood(hook: Hook, endpoint: HttpEndpoint, response: HookResponse): HookOutputContents {
  try {
    return outputsOf(response);
  } catch (cause) {
    throw new OperatorError(
      'HOOK_OUTPUT_INVALID',
      `${title(hook)}, POST ${shownUrl(endpoint.url)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function failure(
  hook: Hook,
  { url }: HttpEndpoint,
  why: string,
  cause?: unknown,
  facts?: ErrorFacts,
): OperatorError {
  return new OperatorError('HOOK_FAILED', `${title(hook)} failed: POST ${shownUrl(url)}: ${why}`, {
    cause,
    ...(facts === undefined ? {} : { facts }),
  });
}

function inNameOf(hook: Hook, cause: OperatorError): OperatorError {
  return new OperatorError(cause.code, `${title(hook)} failed: ${cause.message}`, { cause });
}

function connectionText(error: unknown): string {
  const text = errorText(error);
  return isUntrusted(error) ? `${text}; set tls.ca to the authority of its certificate` : text;
}

/** Whether a connection was refused because no trusted authority has signed the certificate of the server. */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNTRUSTED.has(error.code);
}
