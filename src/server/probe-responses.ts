/**
 * Bodies and status codes of `/readyz`, `/status` and `/status/converge`. The words and keys are those of the original
 * operator: probes and scripts compare them.
 */

import {
  dataResponse,
  type Format,
  type RouteResponse,
  textResponse,
} from '@addon-operator/http-server/response';
import { oneLine } from '@addon-operator/strings/escape-controls';
import type { ConvergeStatus, LeaderState, ReplicaReadiness } from '../status/daemon-view.ts';
import { type OperatorStatus, statusText } from '../status/operator-status.ts';

/** In the words of the original. */
const LEADER_PROBLEMS: Readonly<Record<Exclude<LeaderState, 'ready'>, string>> = {
  'not-elected': 'HA mode is enabled but no leader is elected',
  'no-request': "HA mode is enabled but couldn't craft a request to the leader",
  unreachable: "HA mode is enabled but couldn't send a request to the leader",
  'not-ready': "HA mode is enabled but the leader's status response code isn't OK",
};

/**
 * The response of `/readyz`.
 *
 * @param status said as well, for people; absent: the body is that of the original operator
 */
export function readinessResponse(readiness: ReplicaReadiness, status?: OperatorStatus): RouteResponse {
  const reply = briefReadiness(readiness);
  return status === undefined ? reply : { ...reply, body: `${reply.body}${statusText(status)}` };
}

/** 200 once the first converge is done, and on a standby whose leader is ready; 500 before. */
function briefReadiness(readiness: ReplicaReadiness): RouteResponse {
  if (readiness.type !== 'standby') {
    const [content, status] =
      readiness.type === 'converged'
        ? (['Startup converge done.', 200] as const)
        : (['Startup converge in progress', 500] as const);
    const warnings = (readiness.warnings ?? []).map((warning) => `WARNING: ${oneLine(warning)}`);
    return textResponse(`${[content, ...warnings].join('\n')}\n`, status);
  }
  if (readiness.leader === 'ready')
    return textResponse('HA mode is enabled and waiting for acquiring the lock.\n');
  return textResponse(`${LEADER_PROBLEMS[readiness.leader]}\n`, 500);
}

/** The response of `/status`. */
export function statusResponse(status: OperatorStatus, format: Format): RouteResponse {
  return format === 'text' ? textResponse(statusText(status)) : dataResponse(format, status);
}

/** The response of `/status/converge`. */
export function convergeResponse(status: ConvergeStatus, format: 'text' | 'json'): RouteResponse {
  return format === 'json'
    ? dataResponse('json', convergeData(status))
    : textResponse(`${convergeText(status)}\n`);
}

/** One word for each state, as scripts for the original expect it; isolated modules follow in a line of their own. */
function convergeText(status: ConvergeStatus): string {
  if (status.type === 'not-started') return 'STARTUP_CONVERGE_NOT_STARTED';
  const { isolated = [] } = status;
  const content = progressText(status);
  return isolated.length === 0 ? content : `${content}\nISOLATED_MODULES: ${isolated.join(', ')}`;
}

function progressText(status: Exclude<ConvergeStatus, { readonly type: 'not-started' }>): string {
  if (status.type === 'first')
    return status.tasks > 0 ? `STARTUP_CONVERGE_IN_PROGRESS: ${status.tasks} tasks` : 'STARTUP_CONVERGE_DONE';
  const now = status.tasks > 0 ? `CONVERGE_IN_PROGRESS: ${status.tasks} tasks` : 'CONVERGE_WAIT_TASK';
  return `STARTUP_CONVERGE_DONE\n${now}`;
}

/** All five keys, always; a sixth one only while modules are isolated. */
function convergeData(status: ConvergeStatus): object {
  const { type } = status;
  const tasks = status.type === 'not-started' ? 0 : status.tasks;
  const isolated = (status.type !== 'not-started' && status.isolated) || [];
  return {
    CONVERGE_IN_PROGRESS: type === 'done' ? tasks : 0,
    CONVERGE_WAIT_TASK: type === 'done' && tasks === 0,
    STARTUP_CONVERGE_DONE: type === 'done' || (type === 'first' && tasks === 0),
    STARTUP_CONVERGE_IN_PROGRESS: type === 'first' ? tasks : 0,
    STARTUP_CONVERGE_NOT_STARTED: type === 'not-started',
    ...(isolated.length > 0 && { ISOLATED_MODULES: isolated }),
  };
}
