import { expect, test } from 'vitest';
import { daemonView } from '../../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { RUN_START } from '../../../test/support/run-start.ts';
import { Journal } from '../../journal/journal.ts';
import { timelineData } from './timeline.ts';

const HOUR_MS = 3_600_000;

test('the timeline has the runs of modules within the period in run order, without those of their hooks', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock });
  journal.end(journal.begin({ ...RUN_START, module: 'web' }), { result: 'success' });
  journal.marks.add({ kind: 'start', text: 'early' });
  const long = journal.begin({ ...RUN_START, module: 'web' });
  journal.end(journal.beginHook({ ...RUN_START, module: 'web', hook: 'a.sh', type: 'HookRun' }), {
    result: 'success',
  });
  await clock.advance(HOUR_MS);
  journal.end(long, { result: 'failed', error: 'no' });
  await clock.advance(1);
  journal.begin({ ...RUN_START, module: 'db' });
  journal.begin({ ...RUN_START, module: '', type: 'ConvergeModules' });
  journal.marks.add({ kind: 'config', text: 'changed' });
  const modules = () => ['db', 'other', 'web'].map((module) => ({ module }) as never);
  const view = daemonView({ journal, modules });
  expect(timelineData(view, clock.wallMs(), 1)).toEqual({
    from: '1970-01-01T00:00:00.001Z',
    to: '1970-01-01T01:00:00.001Z',
    isComplete: true,
    modules: [
      { module: 'db', runs: [expect.objectContaining({ id: '4', result: 'running' })] },
      { module: 'web', runs: [expect.objectContaining({ id: '2', result: 'failed', durationMs: HOUR_MS })] },
    ],
    marks: [expect.objectContaining({ text: 'changed' })],
  });
});
