/**
 * The readiness of a standby: it is ready if the leader is ready, so that a rollout of the Deployment does not finish
 * before the new leader has converged. Called for each probe of the kubelet; changes are logged once.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import type { LeaderState } from '../status/daemon-view.ts';
import { leaderHost } from './leader-host.ts';

const TIMEOUT_MS = 3_000;

export interface LeaderReadinessOptions {
  /** Identity of the leader; empty when there is none. */
  readonly leader: () => string;
  /** Where its HTTP server listens. */
  readonly port: number;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

/**
 * Queries whether the leader is ready, for at most 3 seconds. What a standby learns so is logged when it changes.
 *
 * @returns a function to be called for each probe
 */
export function leaderReadiness({
  leader,
  port,
  clock,
  log,
}: LeaderReadinessOptions): (signal: AbortSignal) => Promise<LeaderState> {
  let logged = '';
  return async (signal) => {
    const identity = leader();
    const { state, error } = await requestReadiness(identity, port, clock, signal);
    const known = `${state} ${identity}`;
    if (known !== logged && !signal.aborted) logState(log, state, { leader: identity, ...error });
    logged = known;
    return state;
  };
}

async function requestReadiness(
  identity: string,
  port: number,
  clock: SteadyClock,
  signal: AbortSignal,
): Promise<{ readonly state: LeaderState; readonly error?: Readonly<Record<string, unknown>> }> {
  if (identity === '') return { state: 'not-elected' };
  const host = leaderHost(identity);
  const urlHost = host.includes(':') ? `[${host}]` : host;
  const url = `http://${urlHost}:${port}/readyz`;
  // An identity with a slash or an @ would address something else.
  if (host === identity && (!URL.canParse(url) || new URL(url).hostname !== host.toLowerCase()))
    return { state: 'no-request' };
  const deadline = {
    clock,
    limitMs: TIMEOUT_MS,
    error: () => new OperatorError('ABORTED', `the leader does not respond within ${TIMEOUT_MS / 1_000} s`),
  };
  try {
    const state = await withDeadline(deadline, signal, async (signal) => {
      const response = await fetch(url, { signal, redirect: 'manual' });
      await response.body?.cancel();
      return response.status === 200 ? 'ready' : 'not-ready';
    });
    return { state };
  } catch (error) {
    return { state: 'unreachable', error: { url, ...errorFields(error) } };
  }
}

function logState(log: Logger, state: LeaderState, fields: Readonly<Record<string, unknown>>): void {
  switch (state) {
    case 'ready':
      return log.info(fields, 'standby: the leader is ready, and so is this replica');
    case 'not-ready':
      return log.info(fields, 'standby: the leader is not ready yet');
    case 'not-elected':
      return log.info({}, 'standby: no leader is elected yet');
    case 'no-request':
      return log.warn(
        fields,
        'standby: the lease is held by a name that is no host name; this replica is not ready until that changes',
      );
    case 'unreachable':
      return log.warn(
        fields,
        'standby: cannot reach the leader, so this replica is not ready; allow connections between the pods of the operator',
      );
  }
}
