/** Records when each watch of a binding last received something, for `explain` and the status of the operator. */

import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { hasStatus } from '@addon-operator/kube-client/kube-client';

/** Why the snapshot of a binding may be out of date. */
export interface WatchFailure {
  readonly error: string;
  /** First failure in a row, in milliseconds on the steady clock. */
  readonly sinceMs: number;
  /** The API server says that the account may not list or watch. */
  readonly isRefused: boolean;
}

export interface WatchReport {
  /** When the API server last confirmed the state, in milliseconds on the steady clock; undefined before the first list. */
  readonly lastActivityMs: number | undefined;
  readonly failure: WatchFailure | undefined;
}

/** The state of the connection of one watch. */
export class WatchHealth {
  readonly #clock: SteadyClock;
  #lastActivityMs: number | undefined;
  #failure: WatchFailure | undefined;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  get report(): WatchReport {
    return { lastActivityMs: this.#lastActivityMs, failure: this.#failure };
  }

  confirmed(): void {
    this.#lastActivityMs = this.#clock.steadyMs();
    this.#failure = undefined;
  }

  failed(error: unknown): void {
    const sinceMs = this.#failure?.sinceMs ?? this.#clock.steadyMs();
    this.#failure = { error: messageOf(error), sinceMs, isRefused: hasStatus(error, 403) };
  }
}

/** All watches of a binding taken together: as old as the oldest, and failing while any of them fails. */
export function combinedReport(reports: readonly WatchReport[]): WatchReport {
  const times = reports.flatMap(({ lastActivityMs }) => lastActivityMs ?? []);
  const failures = reports.flatMap(({ failure }) => failure ?? []);
  return {
    lastActivityMs: times.length === 0 ? undefined : Math.min(...times),
    failure: failures.find(({ isRefused }) => isRefused) ?? failures[0],
  };
}
