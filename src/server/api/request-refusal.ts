import type { ErrorCode } from '@addon-operator/base/errors';

/** A request that is refused. */
export class RequestRefusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;

  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
