import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { Journal } from '../../journal/journal.ts';
import { tableText } from '../output/tables.ts';
import { nextTable, runsTable, runTable } from './run-tables.ts';

const START = {
  queue: 'main',
  taskId: 'main/1',
  type: 'ModuleHookRun',
  module: 'web',
  hook: 'a.sh',
  binding: 'kubernetes',
  trigger: 'Kubernetes',
  eventId: 'e-1',
  triggeredBy: undefined,
  attempt: 1,
  queuedMs: 0,
};

async function journal(): Promise<Journal> {
  const clock = new FakeClock();
  const made = new Journal({ clock });
  const run = made.begin(START);
  made.print(run, 'cannot find\u001b[31m the disk');
  await clock.advance(1_500);
  made.end(run, { result: 'failed', error: 'exit status 1', code: 'HOOK_FAILED' });
  return made;
}

test('runs are a table with one line each', async () => {
  const list = (await journal()).list({ limit: 5 });
  expect(tableText(runsTable(list), 'table')).toBe(
    `RUN  STARTED                   RESULT  WHAT                                 TOOK  ERROR
1    1970-01-01T00:00:00.000Z  failed  ModuleHookRun web/a.sh (kubernetes)  1.5s  exit status 1
`,
  );
  expect(tableText(runsTable(list), 'name')).toBe('run/1\n');
});

test('one run is a list of what is known of it, without control characters', async () => {
  const text = tableText(runTable((await journal()).details(1)), 'table');
  expect(text).toMatch(/^error +exit status 1$/m);
  expect(text).toMatch(/^output +cannot find.*the disk$/m);
  expect(text).not.toContain('\u001b');
});

test('the lines of an error and of an output are rows with their indentation, and lists show the headline', async () => {
  const made = await journal();
  const run = made.begin({ ...START, hook: 'b.py' });
  for (const line of ['key:', '  nested:', '\t\t- deep']) made.print(run, line);
  made.end(run, { result: 'failed', error: 'OSError: no disk\n\nTraceback\n  main()\nOSError: no disk' });
  const text = tableText(runTable(made.details(2)), 'table');
  expect(text).toMatch(/^error +OSError: no disk\n +Traceback\n +main\(\)\n +OSError: no disk$/m);
  expect(text.match(/^error +|^ +main/gm)?.map(({ length }) => length)).toEqual([11, 17]);
  expect(text).toMatch(/^output {5}key:\noutput {7}nested:\noutput {9}- deep$/m);
  expect(tableText(runsTable(made.list({ limit: 1 })), 'wide')).toMatch(/ OSError: no disk +1\.5s/);
});

test('what comes next is a table by time', () => {
  const at = '2026-01-01T00:00:12.500Z';
  const cron = { at, kind: 'schedule', text: 'runs', module: 'web', hook: 'a.sh', crontab: '*/5 * * * *' };
  const check = { ...cron, at: '2026-01-01T01:00:00.000Z', kind: 'recheck', hook: '', crontab: '' };
  const table = nextTable({ items: [cron, check] }, Date.parse('2026-01-01T00:00:00Z'));
  expect(tableText(table, 'table')).toBe(`IN   MODULE  HOOK  SCHEDULE     KIND
12s  web     a.sh  */5 * * * *  schedule
60m  web                        recheck
`);
  expect(tableText(table, 'wide')).toContain(`schedule  ${at}  runs`);
});
