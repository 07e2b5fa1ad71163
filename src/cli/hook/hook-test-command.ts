import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { HookCoverage } from '../../devkit/test/binding-coverage.ts';
import {
  countResults,
  type FileResult,
  type TestReportFormat,
  testReportText,
} from '../../tools/hook-test/hook-test.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { findTestFiles } from './hook-test-files.ts';
import { isShown, runTestFiles, type TestRunOptions, type TestRunResults } from './hook-test-runs.ts';
import { repeatOnChange, watchedDirectories } from './hook-test-watch.ts';

const REPORT_FORMATS: readonly TestReportFormat[] = ['junit', 'tap', 'github'];

export interface HookTestOptions {
  readonly paths: readonly string[];
  readonly hasColor: boolean;
  readonly format: 'text' | TestReportFormat;
  /** Only cases with this in their names, or between slashes a regular expression for them. */
  readonly filter?: string;
  /** Further reports, as `FORMAT=FILE`. */
  readonly report?: readonly string[];
  /** Store snapshots instead of comparing them. */
  readonly isUpdate: boolean;
  /** Run them again after each change of a file. */
  readonly isWatch: boolean;
  /** Report which bindings were run; true, or `min:PERCENT`, below which the tests fail. */
  readonly coverage?: true | string;
  /** How many hooks are tested at the same time; default: as many as the machine has processors, one with `wrap`. */
  readonly jobs?: string;
  /** Starts hooks that are executables, such as `kcov out`. */
  readonly wrap?: string;
}

/** Runs the tests of hooks, and returns the exit code: 0 all passed, 1 one failed, 2 a test file cannot be used. */
export async function hookTestCommand(options: HookTestOptions, host: CliHost): Promise<number> {
  const signal = host.stopSignal();
  const isCi = isSet(host.env['CI']);
  if (options.isUpdate && isCi)
    throw new OperatorError(
      'CONFIG_INVALID',
      '--update is not used in CI (the variable CI is set): store snapshots on your machine, and commit them',
    );
  checkCoverage(options.coverage);
  const isChosen = caseFilter(options.filter);
  const reports = (options.report ?? []).map(reportOf);
  const run: RunOptions = { ...options, isCi, isChosen, maxJobs: jobsOf(options) };
  const files = await findTestFiles(options.paths, host.cwd);
  if (!options.isWatch) {
    const results = await runTestFiles(files, run, host, signal);
    await writeReports(reports, results.files, host.cwd);
    return exitCodeOf(results, run, host);
  }
  let exitCode = 0;
  let failed: readonly string[] = [];
  const again = async (): Promise<void> => {
    // Tests may have been added. What failed is run first.
    const found = await findTestFiles(options.paths, host.cwd).catch(() => files);
    const ordered = found.toSorted((a, b) => Number(failed.includes(b)) - Number(failed.includes(a)));
    const results = await runTestFiles(ordered, run, host, signal);
    failed = ordered.filter((_file, index) => hasFailed(results.files[index]));
    await writeReports(reports, results.files, host.cwd);
    exitCode = exitCodeOf(results, run, host);
    host.stdout.write('waiting for changes; Ctrl-C ends\n');
  };
  await repeatOnChange(await watchedDirectories(files), again, { clock: host.clock, signal }).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  return exitCode;
}

function hasFailed(result: FileResult | undefined): boolean {
  return result?.problem !== undefined || result?.cases.some((test) => test.result === 'failed') === true;
}

type RunOptions = HookTestOptions & TestRunOptions;

interface Report {
  readonly format: TestReportFormat;
  readonly file: string;
}

function caseFilter(filter: string | undefined): RunOptions['isChosen'] {
  const expression = /^\/(.+)\/$/s.exec(filter ?? '')?.[1];
  if (expression === undefined) return (name) => name.includes(filter ?? '');
  try {
    const pattern = new RegExp(expression, 'u');
    return (name) => pattern.test(name);
  } catch (cause) {
    throw new OperatorError('CONFIG_INVALID', `--filter ${filter}: ${messageOf(cause)}`, { cause });
  }
}

function reportOf(given: string): Report {
  const [, name, file = ''] = /^([a-z]+)=(.+)$/s.exec(given) ?? [];
  const format = REPORT_FORMATS.find((known) => known === name);
  if (format !== undefined) return { format, file };
  throw new OperatorError(
    'CONFIG_INVALID',
    `--report ${given}: expected FORMAT=FILE with the format ${REPORT_FORMATS.join(', ')}`,
  );
}

async function writeReports(
  reports: readonly Report[],
  results: readonly FileResult[],
  cwd: string,
): Promise<void> {
  for (const { format, file } of reports) {
    const path = resolve(cwd, file);
    await writeFile(path, testReportText(format, results)).catch((cause: unknown) => {
      throw new OperatorError('CONFIG_INVALID', `--report: cannot write ${path}: ${messageOf(cause)}`, {
        cause,
      });
    });
  }
}

/** Writes the summary or the report. */
function exitCodeOf(
  { files: results, coverage: covered }: TestRunResults,
  { filter, format, coverage }: RunOptions,
  { stdout, stderr }: CliHost,
): number {
  const { passed, failed, skipped } = countResults(results);
  if (filter !== undefined && results.every((result) => !isShown(result, filter))) {
    stderr.write(
      `--filter ${filter}: no case matches in ${results.length} ${results.length === 1 ? 'file' : 'files'} with tests\n`,
    );
    return 2;
  }
  if (format !== 'text') stdout.write(testReportText(format, results));
  else stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  const isEnough =
    coverage === undefined || reportCoverage(covered, coverage, format === 'text' ? stdout : stderr);
  if (results.some(({ problem, isOnlyFailed }) => problem !== undefined && isOnlyFailed !== true)) return 2;
  return failed > 0 || !isEnough ? 1 : 0;
}

/** Writes what no test has run the hooks for, and returns whether it is enough. */
function reportCoverage(
  hooks: readonly HookCoverage[],
  wanted: true | string,
  output: CliHost['stderr'],
): boolean {
  const total = hooks.reduce((sum, hook) => sum + hook.total, 0);
  const missing = hooks.reduce((sum, hook) => sum + hook.missing.length, 0);
  const percent = total === 0 ? 100 : Math.floor(((total - missing) / total) * 100);
  for (const hook of hooks.filter((each) => each.missing.length > 0))
    output.write(harmless(`${hook.hook} was not run for: ${hook.missing.join(', ')}\n`));
  output.write(`coverage of bindings: ${total - missing} of ${total} (${percent} %)\n`);
  const limit = limitOf(wanted);
  if (percent >= limit) return true;
  output.write(`the coverage is below ${limit} % (--coverage)\n`);
  return false;
}

function limitOf(wanted: true | string): number {
  return wanted === true ? 0 : Number(wanted.slice('min:'.length));
}

function checkCoverage(wanted: HookTestOptions['coverage']): void {
  if (wanted === undefined || wanted === true || /^min:(?:\d{1,2}|100)$/.test(wanted)) return;
  throw new OperatorError(
    'CONFIG_INVALID',
    `--coverage must be min:PERCENT, such as min:80, not "${wanted}"`,
  );
}

function jobsOf({ jobs, wrap }: HookTestOptions): number {
  // Tools that measure coverage write what they have found into one place.
  if (jobs === undefined) return wrap === undefined ? availableParallelism() : 1;
  if (/^[1-9]\d?$/.test(jobs)) return Number(jobs);
  throw new OperatorError('CONFIG_INVALID', `--jobs must be a number from 1 to 99, not "${jobs}"`);
}

function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '' && variable !== 'false' && variable !== '0';
}
