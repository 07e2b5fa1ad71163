import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { shellWord } from '@addon-operator/strings/shell-word';
import { BindingCoverage, type HookCoverage } from '../../devkit/test/binding-coverage.ts';
import {
  type CaseResult,
  caseFailureText,
  type FileResult,
  impureText,
  readTestFile,
  runCase,
  type TestFile,
  type TestReportFormat,
} from '../../tools/hook-test/hook-test.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { type Paint, paintFor, wantsColor } from '../output/paint.ts';
import { hookPathOf } from './hook-test-files.ts';
import { type TestLab, withTestLab } from './hook-test-lab.ts';
import { finishSnapshots, readSnapshots } from './hook-test-snapshots.ts';

export interface TestRunOptions {
  readonly format: 'text' | TestReportFormat;
  readonly hasColor: boolean;
  readonly filter?: string;
  /** Store snapshots instead of comparing them. */
  readonly isUpdate: boolean;
  readonly isCi: boolean;
  /** By the name of a case. */
  readonly isChosen: (name: string) => boolean;
  /** How many hooks are tested at the same time. */
  readonly maxJobs: number;
  /** Starts hooks that are executables. */
  readonly wrap?: string;
}

export interface TestRunResults {
  /** In the order of the files. */
  readonly files: readonly FileResult[];
  readonly coverage: readonly HookCoverage[];
}

/** How results are printed. */
interface Look {
  readonly paint: Paint;
  /** The command that starts this program. */
  readonly program: string;
}

/** A test file that can be used. */
interface ReadFile {
  readonly index: number;
  readonly path: string;
  readonly file: TestFile;
}

/**
 * Runs test files, those of different hooks at the same time. The tests of one hook run one after another: what a hook keeps
 * in memory, in files or elsewhere then depends on no chance. Results are shown in the order of the files.
 *
 * @throws OperatorError when a lab cannot be started; `signal.reason` on abort
 */
export async function runTestFiles(
  paths: readonly string[],
  options: TestRunOptions,
  host: CliHost,
  signal: AbortSignal,
): Promise<TestRunResults> {
  const look: Look = {
    paint: paintFor(options.hasColor && wantsColor(host.stdout.isTTY === true, host.env)),
    program: host.command ?? 'addon-operator',
  };
  const coverage = new BindingCoverage();
  const results: (FileResult | undefined)[] = paths.map(() => undefined);
  let shown = 0;
  const add = (index: number, result: FileResult): void => {
    results[index] = result;
    for (let next = results[shown]; next !== undefined; next = results[shown]) {
      if (options.format === 'text' && isShown(next, options.filter)) host.stdout.write(fileText(next, look));
      shown += 1;
    }
  };
  const byHook = new Map<string, ReadFile[]>();
  for (const [index, path] of paths.entries()) {
    const file = relative(host.cwd, path);
    try {
      const read = { index, path, file: readTestFile(file, await readFile(path, 'utf8')).file };
      const hook = hookPathOf(path, read.file.hook);
      byHook.set(hook, [...(byHook.get(hook) ?? []), read]);
    } catch (error) {
      add(index, { file, cases: [], problem: messageOf(error) });
    }
  }
  const run = async (files: readonly ReadFile[], lab: TestLab, ends: AbortSignal): Promise<void> => {
    for (const read of files) add(read.index, await runFile(read, options, lab, host, ends));
  };
  const open: OpenLab = (use, ends) => withTestLab(host, { coverage, wrap: options.wrap }, use, ends);
  await inLabs([...byHook.values()], options.maxJobs, open, run, signal);
  return { files: results.filter((result) => result !== undefined), coverage: coverage.hooks };
}

type OpenLab = (use: (lab: TestLab) => Promise<void>, signal: AbortSignal) => Promise<void>;

/**
 * Works on all items, at most `maxJobs` at the same time, each of them in a lab of its own. The first failure ends all.
 */
async function inLabs<T>(
  items: readonly T[],
  maxJobs: number,
  open: OpenLab,
  run: (item: T, lab: TestLab, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...items];
  const failed = new AbortController();
  const ends = AbortSignal.any([signal, failed.signal]);
  const endAll = (error: unknown): void => failed.abort(error);
  // Each is opened when the one before is: to open a lab takes the processor, which the first case needs more.
  const work = async (others: number): Promise<void> => {
    if (waiting.length === 0) return;
    const inLab = async (lab: TestLab): Promise<void> => {
      const next = others > 0 ? work(others - 1) : undefined;
      await runAll(lab).catch(endAll);
      await next;
    };
    await open(inLab, ends).catch(endAll);
  };
  const runAll = async (lab: TestLab): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      ends.throwIfAborted();
      await run(item, lab, ends);
    }
  };
  await work(maxJobs - 1);
  ends.throwIfAborted();
}

async function runFile(
  { path, file }: ReadFile,
  { isChosen, isUpdate, isCi }: TestRunOptions,
  lab: TestLab,
  host: CliHost,
  signal: AbortSignal,
): Promise<FileResult> {
  const shown = relative(host.cwd, path);
  const cases: CaseResult[] = [];
  try {
    const stored = await readSnapshots(path, isUpdate);
    const options = { jq: lab.jq, clock: host.clock, snapshots: stored.snapshots, signal };
    const chosen = file.cases.filter(({ name }) => isChosen(name));
    for (const test of chosen)
      cases.push(await runCase(test, { ...options, open: () => lab.open(path, file, test) }));
    // What a failed or skipped case would have compared is not known.
    const isWhole = chosen.length === file.cases.length && cases.every(({ result }) => result === 'passed');
    const notes = await finishSnapshots(stored, { isWhole, cwd: host.cwd });
    if (notes.obsolete.length > 0 && isCi)
      return { file: shown, cases, problem: notes.obsolete.join('\n'), isOnlyFailed: true };
    return { file: shown, cases, notes: [...notes.written, ...notes.obsolete] };
  } catch (error) {
    signal.throwIfAborted();
    return { file: shown, cases, problem: messageOf(error) };
  }
}

/** With a filter files without cases that match are not shown. */
export function isShown({ cases, problem }: FileResult, filter: string | undefined): boolean {
  return filter === undefined || cases.length > 0 || problem !== undefined;
}

function fileText({ file, cases, problem, notes = [] }: FileResult, look: Look): string {
  const { paint } = look;
  const lines = [
    ...cases.flatMap((each) => caseLines(file, each, look)),
    ...notes.map((note) => paint('dim', note)),
  ];
  const problems = problem === undefined ? [] : problem.split('\n').map((line) => paint('red', line));
  return `${paint('bold', file)}\n${[...lines, ...problems].map((line) => `  ${harmless(line)}\n`).join('')}`;
}

function caseLines(file: string, test: CaseResult, { paint, program }: Look): readonly string[] {
  const impure = impureText(test);
  const notes = impure === undefined ? [] : [paint('dim', `  ${impure}`)];
  switch (test.result) {
    case 'passed':
      return [`${paint('green', 'ok')} ${test.name}`, ...notes];
    case 'skipped':
      return [`${paint('dim', 'skipped')} ${test.name}: ${test.reason}`];
    case 'failed':
      return [
        `${paint('red', 'FAILED')} ${test.name}`,
        ...caseFailureText(test.failure)
          .split('\n')
          .map((line) => `  ${line}`),
        ...notes,
        paint('dim', `  repeat: ${program} hook test ${shellWord(file)} --filter ${shellWord(test.name)}`),
      ];
  }
}
