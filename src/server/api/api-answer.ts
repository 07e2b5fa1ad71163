import type { ErrorCode } from '@addon-operator/base/errors';
import type { Answer } from '@addon-operator/http-server/answer';

/** Data as this API has it. */
export function jsonAnswer(status: number, data: object): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(data)}\n` };
}

/** An error as this API has it. */
export function apiError(status: number, code: ErrorCode, message: string): Answer {
  return { ...jsonAnswer(status, { error: { code, message } }), code };
}
