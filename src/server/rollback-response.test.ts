import { expect, test } from 'vitest';
import type { RollbackOutcome } from '../status/module-rollback.ts';
import { rollbackResponse } from './rollback-response.ts';

const target = { revision: 1, version: '1.0.0' };

test.each<readonly [RollbackOutcome, number, string]>([
  [{ type: 'planned', ...target }, 200, 'module web would be rolled back to revision 1 (version 1.0.0)\n'],
  [{ type: 'planned', revision: 1, version: '' }, 200, 'module web would be rolled back to revision 1\n'],
  [
    { type: 'continues', ...target },
    200,
    'the rollback of module web to revision 1 (version 1.0.0) continues: ',
  ],
  [
    { type: 'done', ...target, newRevision: 3 },
    200,
    'which is revision 3 now: it is paused until its files change',
  ],
  [
    { type: 'switched', version: '1.0.0', keptCrds: ['CRD a: it stays', 'CRD b: it stays'] },
    200,
    'module web is switched back to version 1.0.0\nCRD a: it stays\nCRD b: it stays\n',
  ],
  [{ type: 'refused', reason: 'it has no chart' }, 409, 'module web cannot be rolled back: it has no chart'],
])('a rollback is passed on, and its outcome said: %j', async (outcome, status, body) => {
  const orders: unknown[] = [];
  const form = new URLSearchParams({ to: '', withValues: 'true', dryRun: 'false' });
  const response = await rollbackResponse(
    async (module, order) => {
      orders.push([module, order]);
      return await Promise.resolve(outcome);
    },
    'web',
    form,
    new AbortController().signal,
  );
  expect(orders).toEqual([['web', { to: undefined, withValues: true, isDryRun: false }]]);
  expect(response).toMatchObject({ status, body: expect.stringContaining(body) as string });
});
