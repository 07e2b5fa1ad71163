import { expect, test } from 'vitest';
import type { ConvergeStatus, ReplicaReadiness } from '../status/daemon-view.ts';
import { problem } from '../status/operator-problems.ts';
import type { OperatorStatus } from '../status/operator-status.ts';
import { convergeResponse, readinessResponse, statusResponse } from './probe-responses.ts';

test.each<[ReplicaReadiness, number, string]>([
  [{ type: 'converged' }, 200, 'Startup converge done.\n'],
  [
    { type: 'converged', warnings: ['one', 'two\nlines'] },
    200,
    'Startup converge done.\nWARNING: one\nWARNING: two lines\n',
  ],
  [{ type: 'converging', warnings: ['one'] }, 500, 'Startup converge in progress\nWARNING: one\n'],
  [{ type: 'converging' }, 500, 'Startup converge in progress\n'],
  [{ type: 'standby', leader: 'ready' }, 200, 'HA mode is enabled and waiting for acquiring the lock.\n'],
  [{ type: 'standby', leader: 'not-elected' }, 500, 'HA mode is enabled but no leader is elected\n'],
  [
    { type: 'standby', leader: 'unreachable' },
    500,
    "HA mode is enabled but couldn't send a request to the leader\n",
  ],
])('readiness %j', (readiness, status, body) => {
  expect(readinessResponse(readiness)).toMatchObject({ status, body });
});

test.each<[ConvergeStatus, string, object]>([
  [{ type: 'not-started' }, 'STARTUP_CONVERGE_NOT_STARTED\n', { STARTUP_CONVERGE_NOT_STARTED: true }],
  [
    { type: 'first', tasks: 3 },
    'STARTUP_CONVERGE_IN_PROGRESS: 3 tasks\n',
    { STARTUP_CONVERGE_IN_PROGRESS: 3 },
  ],
  [{ type: 'first', tasks: 0 }, 'STARTUP_CONVERGE_DONE\n', { STARTUP_CONVERGE_DONE: true }],
  [
    { type: 'done', tasks: 2 },
    'STARTUP_CONVERGE_DONE\nCONVERGE_IN_PROGRESS: 2 tasks\n',
    { STARTUP_CONVERGE_DONE: true, CONVERGE_IN_PROGRESS: 2 },
  ],
  [
    { type: 'done', tasks: 0 },
    'STARTUP_CONVERGE_DONE\nCONVERGE_WAIT_TASK\n',
    { STARTUP_CONVERGE_DONE: true, CONVERGE_WAIT_TASK: true },
  ],
])('converge status %j', (status, text, differences) => {
  expect(convergeResponse(status, 'text').body).toBe(text);
  expect(JSON.parse(convergeResponse(status, 'json').body)).toEqual({
    CONVERGE_IN_PROGRESS: 0,
    CONVERGE_WAIT_TASK: false,
    STARTUP_CONVERGE_DONE: false,
    STARTUP_CONVERGE_IN_PROGRESS: 0,
    STARTUP_CONVERGE_NOT_STARTED: false,
    ...differences,
  });
});

const STATUS: OperatorStatus = {
  level: 'waiting',
  text: 'module web is paused',
  problems: ['module web is paused', 'objects drifted'],
  details: [
    problem('waiting', 'module web is paused', { advice: ['resume it'] }),
    problem('waiting', 'objects drifted'),
  ],
  modules: { paused: 1 },
  tasks: 0,
};

test('the status is text or JSON, and readiness says it on request', () => {
  const text = 'module web is paused\n  to fix: resume it\n- objects drifted\nmodules: 1 paused\ntasks: 0\n';
  expect(statusResponse(STATUS, 'text').body).toBe(text);
  expect(JSON.parse(statusResponse(STATUS, 'json').body)).toEqual(STATUS);
  expect(readinessResponse({ type: 'converging' }, STATUS)).toMatchObject({
    status: 500,
    body: `Startup converge in progress\n${text}`,
  });
});
