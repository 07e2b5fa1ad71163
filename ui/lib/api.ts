/**
 * Requests to the API of the operator, with the token in a header. Every failure is an `ApiError` with the status and the
 * code of the operator; status 0 means that there was no response.
 */

import type { ErrorResponse, StandbyResponse } from './responses.ts';
import { apiUrl, token } from './site.ts';

/** A response that is no data. */
export class ApiError extends Error {
  /** 0 where the operator did not respond. */
  readonly status: number;
  /** One of docs/errors.md; empty without one. */
  readonly code: string;
  /** Where a standby answers. */
  readonly standby: StandbyResponse | undefined;

  constructor(status: number, code: string, message: string, standby?: StandbyResponse) {
    super(message);
    this.status = status;
    this.code = code;
    this.standby = standby;
  }
}

/**
 * Sends a request with the token.
 *
 * @throws ApiError when the operator does not respond, or refuses
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  // Not `Authorization`: proxies may have users of their own, and API servers remove it.
  headers.set('X-Addon-Operator-Token', token.value);
  let response: Response;
  try {
    response = await fetch(apiUrl(path), { ...init, headers, cache: 'no-store', credentials: 'omit' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError(0, '', 'the operator does not respond');
  }
  if (response.ok) return response;
  throw await errorOf(response);
}

/** Proxies respond with pages of their own, so a body that is no JSON is shown as it is. */
async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error, standby } = JSON.parse(text) as ErrorResponse;
    return new ApiError(response.status, error.code, error.message, standby);
  } catch {
    return new ApiError(response.status, '', text.slice(0, 300) || `status ${response.status}`);
  }
}

/** Reads a response of the API. */
export async function read<Result>(path: string, signal: AbortSignal): Promise<Result> {
  const response = await request(path, { signal });
  return (await response.json()) as Result;
}
