import { xmlText } from '@addon-operator/base/xml-text';
import { countResults, type FileResult, failureText } from './report-text.ts';
import type { CaseResult } from './run-case.ts';

/** Formats for machines. */
export type ReportFormat = 'junit' | 'tap' | 'github';

/** The results as one text. */
export function reportText(format: ReportFormat, files: readonly FileResult[]): string {
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
}

function rowsOf({ file, cases, problem }: FileResult): readonly Row[] {
  const rows = cases.map((test) => rowOf(file, test));
  return problem === undefined ? rows : [...rows, { file, name: file, durationMs: 0, failure: problem }];
}

function rowOf(file: string, test: CaseResult): Row {
  const { name, durationMs } = test;
  if (test.result === 'failed') return { file, name, durationMs, failure: failureText(test.failure) };
  if (test.result === 'skipped') return { file, name, durationMs, skipped: test.reason };
  return { file, name, durationMs };
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

function junitCase({ file, name, durationMs, failure, skipped }: Row): string {
  const seconds = (durationMs / MS_PER_SECOND).toFixed(3);
  const start = `    <testcase classname="${xmlText(file)}" name="${xmlText(name)}" time="${seconds}"`;
  if (failure !== undefined)
    return `${start}>\n      <failure message="${xmlText(failure.split('\n')[0] ?? '')}">${xmlText(failure)}</failure>\n    </testcase>\n`;
  if (skipped !== undefined)
    return `${start}>\n      <skipped message="${xmlText(skipped)}"/>\n    </testcase>\n`;
  return `${start}/>\n`;
}

function tap(files: readonly FileResult[]): string {
  const rows = files.flatMap(rowsOf);
  const lines = rows.flatMap(({ file, name, failure, skipped }, index) => {
    const title = `${index + 1} - ${`${file}: ${name}`.replaceAll('#', String.raw`\#`)}`;
    if (skipped !== undefined) return [`ok ${title} # SKIP ${oneLine(skipped)}`];
    if (failure === undefined) return [`ok ${title}`];
    return [`not ok ${title}`, ...failure.split('\n').map((line) => `# ${line}`)];
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
      failure === undefined
        ? []
        : [`::error file=${property(file)},title=${property(name)}::${message(failure)}\n`],
    )
    .join('');
}

function message(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return message(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
