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

test('a failed run has exit code, bindings, contexts, what it used and the command that runs it, as one that succeeds', async () => {
  const binding = { name: 'every', crontab: '* * * * *', queue: 'side' };
  await using lab = await operatorLab(['web'], { 'web/g.sh': { schedule: [binding] } });
  await lab.converge();
  const newest = () => lab.journal.list({ module: 'web', queue: 'side', limit: 1 }).runs[0];
  const same = {
    bindings: ['every'],
    signal: '',
    contexts: 1,
    cpuMs: 40,
    maxRssBytes: 1_024,
    command: 'addon-operator hook run /web/g.sh --binding every',
  };
  lab.tick('web/g.sh');
  await lab.settle();
  expect(newest()).toMatchObject({ ...same, result: 'success', exitCode: 0 });
  lab.behaviours.set('web/g.sh', failing);
  lab.tick('web/g.sh');
  await lab.settle();
  expect(newest()).toMatchObject({ ...same, result: 'failed', exitCode: 1 });
});
