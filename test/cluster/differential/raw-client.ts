import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parseJson } from '@addon-operator/json';
import type { ApiAccess } from '../../support/control-plane/api-probe.ts';

export interface RawRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
}

export interface RawResponse {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  /** Parsed JSON; for a stream the list of its lines, parsed; else the text. */
  readonly body: unknown;
}

/** Sends one request unchanged and reads the response to its end. */
export type RawClient = (request: RawRequest) => Promise<RawResponse>;

const TIMEOUT_MS = 30_000;

/** @param access with certificates for https; without them for plain http */
export function rawClient(access: Pick<ApiAccess, 'serverUrl'> & Partial<ApiAccess>): RawClient {
  const { serverUrl, caFile, certFile, keyFile } = access;
  const read = (file: string | undefined): Buffer | undefined =>
    file === undefined ? undefined : readFileSync(file);
  const tls = { ca: read(caFile), cert: read(certFile), key: read(keyFile) };
  const open = serverUrl.startsWith('https:') ? httpsRequest : httpRequest;
  return async ({ method, path, accept = 'application/json', contentType, body }) => {
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    const headers = {
      accept,
      'user-agent': 'differential/1',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      // Node leaves the length out for DELETE.
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    };
    const outgoing = open(new URL(path, serverUrl), {
      method,
      agent: false,
      headers,
      timeout: TIMEOUT_MS,
      ...tls,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${path}`)));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        resolve({
          status: incoming.statusCode ?? 0,
          contentType: incoming.headers['content-type'] ?? '',
          warnings: [incoming.headers['warning'] ?? []].flat(),
          body: parseBody(Buffer.concat(chunks).toString('utf8')),
        });
      });
    });
    outgoing.end(body);
    return await promise;
  };
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return parseLines(text) ?? text;
  }
}

function parseLines(text: string): unknown {
  try {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseJson(line));
  } catch {
    return undefined;
  }
}
