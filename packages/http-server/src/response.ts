import { randomUUID } from 'node:crypto';
import { errorText } from '@addon-operator/base/error-text';
import { codeOf, type ErrorCode } from '@addon-operator/base/errors';
import { isObject, stringifyJson } from '@addon-operator/json';
import type { Redactor } from '@addon-operator/masking/redactor';
import { dump } from 'js-yaml';

/** A complete HTTP response. */
export interface RouteResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Sent in place of `body`. */
  readonly bytes?: Uint8Array;
  /** Besides the type, and instead of those that the server sends with every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a refusal or failure; sent in the header `Error-Code`, so that the body stays as the contract has it. */
  readonly code?: ErrorCode;
  /** Writes the body bit by bit, in place of `body`, until the signal aborts because the client is gone. */
  readonly stream?: (sink: StreamSink, signal: AbortSignal) => Promise<void>;
}

/** A client to which a body is written bit by bit. */
export interface StreamSink {
  write(text: string): void;
  /** Bytes that were written and not sent yet. */
  readonly unsentBytes: number;
  /** Ends the connection at once. */
  drop(): void;
}

export type Format = 'json' | 'yaml' | 'text';

/** Media type of plain responses. */
const TEXT_TYPE = 'text/plain; charset=utf-8';

export function textResponse(body: string, status = 200): RouteResponse {
  return { status, contentType: TEXT_TYPE, body };
}

/** A refused or failed request: one line with the reason. */
export function errorResponse(status: number, code: ErrorCode, reason: string): RouteResponse {
  return { ...textResponse(`${reason}\n`, status), code };
}

/** The message of an error with its causes, and its code: INTERNAL for an error that is not the project's own. */
export function failureResponse(status: number, error: unknown): RouteResponse {
  return errorResponse(status, codeOf(error) ?? 'INTERNAL', errorText(error));
}

export const NOT_FOUND = errorResponse(404, 'REQUEST_INVALID', '404 page not found');
export const METHOD_NOT_ALLOWED = errorResponse(405, 'REQUEST_INVALID', '405 method not allowed');

/** Data as compact JSON with a line end, or as YAML; keys stay in their order. */
export function dataResponse(format: 'json' | 'yaml', data: unknown): RouteResponse {
  if (format === 'yaml') return { status: 200, contentType: 'application/yaml', body: yamlOf(data) };
  return { status: 200, contentType: 'application/json', body: `${stringifyJson(data)}\n` };
}

/** The YAML writer knows no exact numbers, so they pass it as words that nothing else contains. */
function yamlOf(data: unknown): string {
  const mark = `exact-${randomUUID()}-`;
  const text = dump(withMarkedNumbers(data, mark), { indent: 2, lineWidth: -1, noRefs: true });
  return text.replaceAll(mark, '');
}

function withMarkedNumbers(value: unknown, mark: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withMarkedNumbers(item, mark));
  if (isObject(value)) {
    const copy: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(value)) {
      if (item !== undefined) copy[key] = withMarkedNumbers(item, mark);
    }
    return copy;
  }
  return typeof value === 'object' && value !== null ? `${mark}${JSON.stringify(value)}` : value;
}

/** The response with masked secrets. In JSON only strings change, so that it stays valid for any secret. */
export function redactedResponse(
  reply: RouteResponse,
  redactor: Pick<Redactor, 'json' | 'text'>,
): RouteResponse {
  const { body, contentType } = reply;
  if (contentType !== 'application/json') return { ...reply, body: redactor.text(body) };
  const json = redactor.json(body);
  return json === body ? reply : { ...reply, body: `${json}\n` };
}
