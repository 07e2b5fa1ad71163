import { expect, test } from 'vitest';
import { paintFor } from '../output/paint.ts';
import { type ReplayedFile, ReplayReport } from './replay-text.ts';

const RUN = { hook: 'hooks/a.sh', module: 'web', binding: 'pods' };
const same = (file: string): ReplayedFile => ({ ...RUN, file, result: 'same' });
const differs = (file: string, diff: readonly string[]): ReplayedFile => ({
  ...RUN,
  file,
  result: 'differs',
  diff,
});

function reportOf(fill: (report: ReplayReport) => void, hasColor = false) {
  let text = '';
  const report = new ReplayReport(paintFor(hasColor), (part) => (text += part));
  fill(report);
  report.end();
  return { lines: text.split('\n').slice(0, -1), exitCode: report.exitCode, json: report.json };
}

test.each<{ what: string; fill: (report: ReplayReport) => void; lines: readonly string[]; exitCode: number }>(
  [
    {
      what: 'no run',
      fill: () => undefined,
      lines: ["0 recorded runs on today's hooks: 0 same, 0 differ"],
      exitCode: 0,
    },
    {
      what: 'a run with the same outputs',
      fill: (report) => report.add(same('1.json')),
      lines: ["1 recorded run on today's hooks: 1 same, 0 differ"],
      exitCode: 0,
    },
    {
      what: 'a difference, which is shown once for all runs that have it',
      fill: (report) => {
        report.add(differs('1.json', ['values:', '  - n: 1', '  + n: 2']));
        report.add(differs('2.json', ['values:', '  - n: 1', '  + n: 2']));
        report.add(differs('3.json', ['values:', '  - n: 1']));
      },
      lines: [
        'differs 1.json: web/hooks/a.sh for pods',
        'values:',
        '  - n: 1',
        '  + n: 2',
        'differs 2.json: web/hooks/a.sh for pods',
        '  as 1.json',
        'differs 3.json: web/hooks/a.sh for pods',
        'values:',
        '  - n: 1',
        "3 recorded runs on today's hooks: 0 same, 3 differ",
      ],
      exitCode: 1,
    },
    {
      what: 'a failure of a global hook',
      fill: (report) =>
        report.add({
          ...RUN,
          module: '',
          file: '1.json',
          result: 'failed',
          reason: 'exit code 1\nno such file',
        }),
      lines: [
        'failed 1.json: hooks/a.sh for pods',
        '  exit code 1',
        '  no such file',
        "1 recorded run on today's hooks: 0 same, 0 differ, 1 failed",
      ],
      exitCode: 1,
    },
    {
      what: 'a run that depends on more than its input',
      fill: (report) => report.add({ ...RUN, file: '1.json', result: 'impure', reason: 'it calls the API' }),
      lines: [
        'impure 1.json: web/hooks/a.sh for pods',
        '  it calls the API',
        "1 recorded run on today's hooks: 0 same, 0 differ, 1 impure",
      ],
      exitCode: 1,
    },
    {
      what: 'a recording that cannot be used, which weighs more than a difference',
      fill: (report) => {
        report.note('the hook has moved');
        report.add(differs('1.json', []));
        report.unusable('2.json', '2.json: no recording');
      },
      lines: [
        'note the hook has moved',
        'differs 1.json: web/hooks/a.sh for pods',
        'unusable 2.json: no recording',
        "1 recorded run on today's hooks: 0 same, 1 differs, 1 unusable",
      ],
      exitCode: 2,
    },
  ],
)('a replay with $what', ({ fill, lines, exitCode }) => {
  const report = reportOf(fill);
  expect([report.lines, report.exitCode]).toEqual([lines, exitCode]);
});

test('a replay as JSON has the counts, the results and the notes', () => {
  const { json } = reportOf((report) => {
    report.add(same('1.json'));
    report.note('the hook has moved');
    report.unusable('2.json', 'no recording');
  });
  expect(json).toEqual({
    counts: { same: 1, differs: 0, failed: 0, impure: 0, unusable: 1 },
    results: [same('1.json')],
    unusable: [{ file: '2.json', problem: 'no recording' }],
    notes: ['the hook has moved'],
  });
});

test('a replay paints removed and added lines, regardless of what is further right in others', () => {
  const { lines } = reportOf(
    (report) => report.add(differs('1.json', ['  - a', '  + b', 'values: a - b'])),
    true,
  );
  expect(lines.slice(1, 4)).toEqual([
    '\u001b[31m  - a\u001b[0m',
    '\u001b[32m  + b\u001b[0m',
    'values: a - b',
  ]);
});
