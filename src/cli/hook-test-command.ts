import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import {
  type CaseResult,
  countResults,
  type FileResult,
  failureText,
  type ReportFormat,
  readTestFile,
  reportText,
  runCase,
} from '@addon-operator/hook-test';
import type { CliHost } from './cli-host.ts';
import { harmless } from './harmless.ts';
import { findTestFiles } from './hook-test-files.ts';
import { type TestLab, withTestLab } from './hook-test-lab.ts';
import { type Paint, paintFor, wantsColor } from './paint.ts';
import { shellWord } from './shell-word.ts';

export interface HookTestOptions {
  readonly paths: readonly string[];
  readonly hasColor: boolean;
  readonly format: 'text' | ReportFormat;
  /** Only cases with this in their names. */
  readonly filter?: string;
}

/** Runs the tests of hooks, and returns the exit code: 0 all passed, 1 one failed, 2 a test file cannot be used. */
export async function hookTestCommand(options: HookTestOptions, host: CliHost): Promise<number> {
  const signal = host.stopSignal();
  const paint = paintFor(options.hasColor && wantsColor(host.stdout.isTTY === true, host.env));
  const { format } = options;
  const isText = format === 'text';
  const files = await findTestFiles(options.paths, host.cwd);
  const results = await withTestLab(
    host,
    async (lab) => {
      const done: FileResult[] = [];
      for (const file of files) {
        const result = await runFile(file, options.filter, lab, host, signal);
        done.push(result);
        if (isText) host.stdout.write(fileText(result, paint));
      }
      return done;
    },
    signal,
  );
  const { passed, failed, skipped } = countResults(results);
  if (format !== 'text') host.stdout.write(reportText(format, results));
  else host.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (results.some(({ problem }) => problem !== undefined)) return 2;
  return failed > 0 ? 1 : 0;
}

async function runFile(
  path: string,
  filter: string | undefined,
  lab: TestLab,
  host: CliHost,
  signal: AbortSignal,
): Promise<FileResult> {
  const shown = relative(host.cwd, path);
  const cases: CaseResult[] = [];
  try {
    const { file } = readTestFile(shown, await readFile(path, 'utf8'));
    const options = { jq: lab.jq, clock: host.clock, signal };
    for (const test of file.cases.filter(({ name }) => name.includes(filter ?? '')))
      cases.push(await runCase(test, { ...options, open: () => lab.open(path, file, test) }));
    return { file: shown, cases };
  } catch (error) {
    signal.throwIfAborted();
    return { file: shown, cases, problem: messageOf(error) };
  }
}

function fileText({ file, cases, problem }: FileResult, paint: Paint): string {
  const lines = cases.flatMap((each) => caseLines(file, each, paint));
  const problems = problem === undefined ? [] : problem.split('\n').map((line) => paint('red', line));
  return `${paint('bold', file)}\n${[...lines, ...problems].map((line) => `  ${harmless(line)}\n`).join('')}`;
}

function caseLines(file: string, test: CaseResult, paint: Paint): readonly string[] {
  switch (test.result) {
    case 'passed':
      return [`${paint('green', 'ok')} ${test.name}`];
    case 'skipped':
      return [`${paint('dim', 'skipped')} ${test.name}: ${test.reason}`];
    case 'failed':
      return [
        `${paint('red', 'FAILED')} ${test.name}`,
        ...failureText(test.failure)
          .split('\n')
          .map((line) => `  ${line}`),
        paint(
          'dim',
          `  repeat: addon-operator hook test ${shellWord(file)} --filter ${shellWord(test.name)}`,
        ),
      ];
  }
}
