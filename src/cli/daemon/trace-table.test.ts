import { expect, test } from 'vitest';
import { failing, name, operatorLab } from '../../../test/support/operator-lab.ts';
import { tableText } from '../output/tables.ts';
import { traceTable } from './trace-table.ts';

const TRACER = { start: () => span };
const span = { context: undefined, child: () => span, set: () => undefined, end: () => undefined };

test('the runs of an event are a tree, with phases, hooks and further attempts', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } }, { tracer: TRACER });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.operator.router.queueModuleRun(name('web'), 'change');
  await lab.settle();
  lab.behaviours.delete('web/a.sh');
  await lab.pass(5_000, 1);
  const [run] = lab.journal.list({ limit: 1, module: 'web' }).runs;
  const { eventId, traceId } = run ?? { eventId: '', traceId: '' };
  const text = tableText(traceTable(lab.journal.event(eventId)), 'table');
  expect(
    text.replaceAll('\u00a0', ' '),
  ).toBe(`WHAT                              RESULT   WAITED  TOOK  RUN  ERROR
ModuleRun web                     failed   0ms     0ms   8    run hooks by binding beforeHelm: module hook 'a.sh' failed: hook is broken
│  beforeHelm                                      0ms
└─ HookRun web/a.sh (beforeHelm)  failed   0ms     0ms   9    module hook 'a.sh' failed: hook is broken
ModuleRun web #2                  success  5.0s    0ms   10
│  beforeHelm                                      0ms
│  helm                                            0ms
└─ HookRun web/a.sh (beforeHelm)  success  0ms     0ms   11
`);
  expect(lab.journal.eventOf('8')).toBe(eventId);
  expect(lab.journal.eventOf(traceId)).toBe(eventId);
  expect(lab.journal.eventOf('12345')).toBeUndefined();
});

test('a run whose cause is forgotten is at the top', () => {
  const run = { id: '2', causedBy: '1', type: 'ModuleRun', module: 'web', attempt: 1, phases: [] };
  expect(traceTable({ runs: [run] }).rows.map(([what]) => what)).toEqual(['ModuleRun web']);
});
