import { xmlText } from '@addon-operator/strings/xml-text';
import { annotation } from '../annotation.ts';
import { caseFailureText, countResults, type FileResult, impureText } from './report-text.ts';
import type { CaseResult } from './run-case.ts';

/** Formats for machines. */
export type TestReportFormat = 'junit' | 'tap' | 'github';

/** The results as one text. */
export function testReportText(format: TestReportFormat, files: readonly FileResult[]): string {
  switch (format) {
    case 'junit':
      return junit(files);
    case 'tap':
      return tap(files);
    case 'github':
      return github(files);
  }
}

const MS_PER_SECOND = 1_000;

/** A file that cannot be used is one failed case. */
interface Row {
  readonly file: string;
  readonly name: string;
  readonly durationMs: number;
  readonly failure?: string;
  readonly skipped?: string;
  /** That the hook is impure. */
  readonly note?: string;
}

function rowsOf({ file, cases, problem }: FileResult): readonly Row[] {
  const rows = cases.map((test) => rowOf(file, test));
  return problem === undefined ? rows : [...rows, { file, name: file, durationMs: 0, failure: problem }];
}

function rowOf(file: string, test: CaseResult): Row {
  const { name, durationMs } = test;
  const note = impureText(test);
  const row = { file, name, durationMs, ...(note !== undefined && { note }) };
  if (test.result === 'failed') return { ...row, failure: caseFailureText(test.failure) };
  if (test.result === 'skipped') return { ...row, skipped: test.reason };
  return row;
}

function junit(files: readonly FileResult[]): string {
  const suites = files.map((file) => {
    const { passed, failed, skipped } = countResults([file]);
    const tests = passed + failed + skipped;
    const attributes = `name="${xmlText(file.file)}" tests="${tests}" failures="${failed}" skipped="${skipped}"`;
    return `  <testsuite ${attributes}>\n${rowsOf(file).map(junitCase).join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function junitCase({ file, name, durationMs, failure, skipped, note }: Row): string {
  const seconds = (durationMs / MS_PER_SECOND).toFixed(3);
  const start = `    <testcase classname="${xmlText(file)}" name="${xmlText(name)}" time="${seconds}"`;
  const said = note === undefined ? '' : `      <system-out>${xmlText(note)}</system-out>\n`;
  if (failure !== undefined)
    return `${start}>\n      <failure message="${xmlText(failure.split('\n')[0] ?? '')}">${xmlText(failure)}</failure>\n${said}    </testcase>\n`;
  if (skipped !== undefined)
    return `${start}>\n      <skipped message="${xmlText(skipped)}"/>\n    </testcase>\n`;
  return said === '' ? `${start}/>\n` : `${start}>\n${said}    </testcase>\n`;
}

function tap(files: readonly FileResult[]): string {
  const rows = files.flatMap(rowsOf);
  const lines = rows.flatMap(({ file, name, failure, skipped, note }, index) => {
    const title = `${index + 1} - ${`${file}: ${name}`.replaceAll('#', String.raw`\#`)}`;
    if (skipped !== undefined) return [`ok ${title} # SKIP ${oneLine(skipped)}`];
    const notes = note === undefined ? [] : [`# ${note}`];
    if (failure === undefined) return [`ok ${title}`, ...notes];
    return [`not ok ${title}`, ...failure.split('\n').map((line) => `# ${line}`), ...notes];
  });
  return `${['TAP version 14', `1..${rows.length}`, ...lines].join('\n')}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}

/** Annotations of a workflow run: one for each failure. */
function github(files: readonly FileResult[]): string {
  return files
    .flatMap(rowsOf)
    .flatMap(({ file, name, failure }) =>
      failure === undefined ? [] : [annotation('error', { file, title: name }, failure)],
    )
    .join('');
}
