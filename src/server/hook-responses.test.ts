import { expect, test } from 'vitest';
import type { HookAbortOutcome } from '../status/hook-abort.ts';
import type { HookTriggerOutcome } from '../status/hook-trigger.ts';
import { hookAbortResponse, hookTriggerResponse } from './hook-responses.ts';

const outcomes: readonly (readonly [HookAbortOutcome, string, number, string])[] = [
  [
    { type: 'aborted', runs: 1 },
    '',
    200,
    'the run of hook a.sh is aborted; the task is retried as after a failure',
  ],
  [{ type: 'aborted', runs: 2 }, 'true', 200, '2 runs of hook a.sh are aborted; the task is dropped'],
  [{ type: 'not-running', running: ['web/b.sh'] }, '', 404, 'hook a.sh does not run; these run: web/b.sh'],
  [{ type: 'not-running', running: [] }, '', 404, 'hook a.sh does not run; no hook runs'],
  [
    { type: 'ambiguous', names: ['web/a.sh', 'db/a.sh'] },
    '',
    409,
    'several hooks have this name: name one of web/a.sh, db/a.sh',
  ],
  [
    { type: 'not-droppable' },
    'true',
    409,
    'the task of hook a.sh cannot be dropped, because others wait for it: abort the run without --drop',
  ],
];

test.each(outcomes)('%j is answered', (outcome, drop, status, text) => {
  const response = hookAbortResponse(() => outcome, new URLSearchParams({ hook: 'a.sh', drop }));
  expect(response).toMatchObject({ status, body: `${text}\n` });
});

test('the hook and the queue are taken from the form', () => {
  const requests: unknown[] = [];
  const abort = (request: unknown): HookAbortOutcome => {
    requests.push(request);
    return { type: 'aborted', runs: 1 };
  };
  hookAbortResponse(abort, new URLSearchParams({ hook: 'a.sh', queue: 'own' }));
  expect(requests).toEqual([{ hook: 'a.sh', queue: 'own', isDropped: false }]);
  expect(hookAbortResponse(abort, new URLSearchParams())).toMatchObject({ status: 400 });
});

const triggers: readonly (readonly [HookTriggerOutcome, number, string])[] = [
  [{ type: 'queued', queue: 'main', ahead: 0 }, 200, 'hook a.sh runs for pods in queue main'],
  [{ type: 'queued', queue: 'own', ahead: 1 }, 200, 'hook a.sh runs for pods in queue own after 1 task'],
  [{ type: 'queued', queue: 'own', ahead: 2 }, 200, 'hook a.sh runs for pods in queue own after 2 tasks'],
  [{ type: 'refused', reason: 'there is no hook a.sh' }, 409, 'there is no hook a.sh'],
];

test.each(triggers)('a trigger with the outcome %j is answered', (outcome, status, text) => {
  const form = new URLSearchParams({ hook: 'a.sh', binding: 'pods', object: 'Pod/a/b' });
  const requests: unknown[] = [];
  const trigger = (request: unknown): HookTriggerOutcome => {
    requests.push(request);
    return outcome;
  };
  expect(hookTriggerResponse(trigger, form)).toMatchObject({ status, body: `${text}\n` });
  expect(requests).toEqual([{ hook: 'a.sh', binding: 'pods', object: 'Pod/a/b' }]);
});

test.each([{}, { hook: 'a.sh' }, { binding: 'pods' }])('a trigger with %j is refused', (form) => {
  const response = hookTriggerResponse(
    () => ({ type: 'queued', queue: 'main', ahead: 0 }),
    new URLSearchParams(form),
  );
  expect(response).toMatchObject({ status: 400, code: 'REQUEST_INVALID' });
});
