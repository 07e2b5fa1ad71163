import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import type { LeaderState } from '../status/daemon-view.ts';

const TIMEOUT_MS = 3_000;

/**
 * Asks the leader whether it is ready, for at most 3 seconds.
 *
 * @param leader host name of the leader, its identity; empty when there is none
 * @param port where its HTTP server listens
 */
export async function leaderReadiness(
  leader: string,
  port: number,
  clock: SteadyClock,
  signal: AbortSignal,
): Promise<LeaderState> {
  if (leader === '') return 'not-elected';
  const url = `http://${leader}:${port}/readyz`;
  // An identity with a slash or an @ would address something else.
  if (!URL.canParse(url) || new URL(url).hostname !== leader.toLowerCase()) return 'no-request';
  const deadline = {
    clock,
    limitMs: TIMEOUT_MS,
    error: () => new OperatorError('ABORTED', 'the leader does not respond'),
  };
  try {
    return await withDeadline(deadline, signal, async (signal) => {
      const response = await fetch(url, { signal, redirect: 'manual' });
      await response.body?.cancel();
      return response.status === 200 ? 'ready' : 'not-ready';
    });
  } catch {
    return 'unreachable';
  }
}
