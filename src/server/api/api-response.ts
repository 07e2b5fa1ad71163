/** The two forms of a response of the API: data, and an error with its code. */

import { errorText } from '@addon-operator/base/error-text';
import { codeOf, type ErrorCode } from '@addon-operator/base/errors';
import type { RouteResponse } from '@addon-operator/http-server/response';
import { RequestRefusal } from './request-refusal.ts';

/** Data as this API has it. */
export function jsonResponse(status: number, data: object): RouteResponse {
  return { status, contentType: 'application/json', body: `${JSON.stringify(data)}\n` };
}

/** An error as this API has it. */
export function apiError(status: number, code: ErrorCode, message: string): RouteResponse {
  return { ...jsonResponse(status, { error: { code, message } }), code };
}

/** A refusal is a mistake of the client; anything else is ours, and has a code where it is known. */
export function apiFailure(error: unknown): RouteResponse {
  if (error instanceof RequestRefusal) return apiError(error.status, error.code, error.message);
  return apiError(500, codeOf(error) ?? 'INTERNAL', errorText(error));
}
