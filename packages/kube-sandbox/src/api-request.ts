import { stringifyJson } from '@addon-operator/json';
/** One request to the API, apart from how it came. */
export interface ApiRequest {
  readonly method: string;
  /** URL path without query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly ifNoneMatch: string;
  readonly userAgent: string;
  readonly body: Uint8Array;
}

export interface BodyResponse {
  readonly type: 'body';
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[];
}

/** Sends one piece of a stream; false when the reader has fallen too far behind and was cut off. */
export type Send = (text: string) => boolean;

export interface StreamResponse {
  readonly type: 'stream';
  readonly contentType: string;
  /** Sends what there is and what comes until `signal` aborts; when it returns or resolves, the stream ends. */
  readonly run: (send: Send, signal: AbortSignal) => Promise<void>;
}

export type ApiResponse = BodyResponse | StreamResponse;

export function jsonResponse(
  status: number,
  body: unknown,
  options: {
    readonly contentType?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly warnings?: readonly string[];
  } = {},
): BodyResponse {
  return {
    type: 'body',
    status,
    contentType: options.contentType ?? 'application/json',
    text: `${stringifyJson(body)}\n`,
    headers: options.headers ?? {},
    warnings: options.warnings ?? [],
  };
}

export function textResponse(status: number, text: string): BodyResponse {
  const contentType = 'text/plain; charset=utf-8';
  return { type: 'body', status, contentType, text, headers: {}, warnings: [] };
}
