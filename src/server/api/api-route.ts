import type { SteadyClock } from '@addon-operator/base/clock';
import type { ErrorCode } from '@addon-operator/base/errors';
import type { DaemonView } from '../../status/daemon-view.ts';

/** Which operator answers. */
export interface OperatorIdentity {
  readonly version: string;
  /** Different after each start. */
  readonly bootId: string;
  readonly nowIso: () => string;
  readonly clock: SteadyClock;
}

/** What answers are read from. */
export interface ApiParts {
  readonly view: DaemonView;
  readonly identity: OperatorIdentity;
}

/** A request that is refused. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;

  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface ApiRoute {
  /** Below the prefix; `{name}` stands for one part of the path. */
  readonly path: string;
  /** The query parameters it knows. */
  readonly query: readonly string[];
  readonly read: (
    parts: ApiParts,
    input: { readonly name: string; readonly query: URLSearchParams; readonly signal: AbortSignal },
  ) => object | Promise<object>;
}
