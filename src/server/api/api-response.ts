/** The two forms of a response of the API: data, and an error with its code. */

import type { ErrorCode } from '@addon-operator/base/errors';
import type { RouteResponse } from '@addon-operator/http-server/response';

/** Data as this API has it. */
export function jsonResponse(status: number, data: object): RouteResponse {
  return { status, contentType: 'application/json', body: `${JSON.stringify(data)}\n` };
}

/** An error as this API has it. */
export function apiError(status: number, code: ErrorCode, message: string): RouteResponse {
  return { ...jsonResponse(status, { error: { code, message } }), code };
}
