import { type ErrorCode, hasCode, OperatorError } from '@addon-operator/base/errors';
import type { RegistryResponse } from './registry-connections.ts';
import { retryAfterMs } from './response-headers.ts';

const MS_PER_SECOND = 1_000;

/**
 * The error for an unexpected status: for 429 and 503 with the time that the registry asks to wait.
 *
 * @param wallNowMs what a date in the response is compared with
 */
export function statusError(response: RegistryResponse, message: string, wallNowMs: number): OperatorError {
  const { status } = response;
  const facts = { status };
  if (status !== 429 && status !== 503) return new OperatorError(codeFor(status), message, { facts });
  const waitMs = retryAfterMs(response.header('retry-after'), wallNowMs);
  const asked = waitMs === undefined ? '' : `; it asks to wait for ${Math.ceil(waitMs / MS_PER_SECOND)} s`;
  return new OperatorError('REGISTRY_UNREACHABLE', `${message}${asked}`, { retryAfterMs: waitMs, facts });
}

/** Whether an exchange ended without a status, so that another attempt may go further. */
export function isCut(error: unknown): boolean {
  return hasCode(error, 'REGISTRY_UNREACHABLE') && error.facts['status'] === undefined;
}

function codeFor(status: number): ErrorCode {
  if (status === 404) return 'REGISTRY_NOT_FOUND';
  return status >= 400 && status < 500 ? 'REGISTRY_REFUSED' : 'REGISTRY_UNREACHABLE';
}
