import { expect, test } from 'vitest';
import { failing, operatorLab } from '../../test/support/operator-lab.ts';

test('a run whose failure is allowed has failed, with its error, though its task is over', async () => {
  const binding = { crontab: '* * * * *', queue: 'side', allowFailure: true };
  await using lab = await operatorLab(['web'], { 'web/g.sh': { schedule: [binding] } });
  await lab.converge();
  lab.behaviours.set('web/g.sh', failing);
  lab.tick('web/g.sh');
  await lab.settle();
  expect(lab.tasks('side')).toEqual([]);
  const [run] = lab.journal.list({ module: 'web', queue: 'side', limit: 1 }).runs;
  expect(run).toMatchObject({ queue: 'side', parent: null, result: 'failed', code: 'HOOK_FAILED' });
  expect(run?.error).not.toBe('');
});
