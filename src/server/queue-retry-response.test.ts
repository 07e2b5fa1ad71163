import { expect, test } from 'vitest';
import { queueRetryResponse } from './queue-retry-response.ts';

test.each([
  ['queue=q', { type: 'retried', task: 'ModuleRun web' }, 200, 'ModuleRun web in queue q is retried now'],
  ['queue=q', { type: 'refused', reason: 'queue q is empty' }, 409, 'nothing is retried: queue q is empty'],
  ['queue=q', { type: 'unknown', reason: 'there is no queue q' }, 404, 'there is no queue q'],
  ['', { type: 'refused', reason: '' }, 400, "'queue' parameter is required"],
] as const)('a form %j with outcome %j gets status %d', (form, outcome, status, body) => {
  const asked: string[] = [];
  const retry = (queue: string) => {
    asked.push(queue);
    return outcome;
  };
  expect(queueRetryResponse(retry, new URLSearchParams(form))).toMatchObject({ status, body: `${body}\n` });
  expect(asked).toEqual(form === '' ? [] : ['q']);
});
