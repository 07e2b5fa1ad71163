import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { countFindings, type LintFinding, lintModule, type ModuleReport, ruleOf } from './lint.ts';
import type { LintFacts } from './lint-facts.ts';
import { findModuleDirectories, type ModuleDirectory } from './module-directories.ts';
import { type ModuleReaders, parseModule } from './parse-module.ts';
import { readModuleFiles } from './read-module.ts';
import { type LintReportFormat, lintReportText } from './report.ts';
import type { Profile } from './rule.ts';

export interface LintOptions {
  /** Modules, and directories of modules; relative ones from `cwd`. */
  readonly directories: readonly string[];
  readonly cwd: string;
  readonly format: LintReportFormat;
  /** Codes of the only rules that are checked; empty: all that are checked without a request. */
  readonly rules: readonly string[];
  readonly profile?: Profile;
  readonly isFixing: boolean;
  /** Whether warnings count as errors. */
  readonly isStrict: boolean;
}

/** A module with its absolute path. */
export interface ReadModule {
  readonly path: string;
  readonly module: LintFacts;
}

/** Gives what the operator reads modules with to a function, and takes it away afterwards. */
export type WithReaders<T> = (use: (readers: ModuleReaders, signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Checks modules, and fixes modes and line ends if that is wanted.
 *
 * @returns the report, and the exit code: 1 when there are errors, else 0
 * @throws OperatorError CONFIG_INVALID for a directory without modules, or a rule that does not exist; errors of `withReaders`
 */
export async function runLint(
  options: LintOptions,
  withReaders: WithReaders<readonly ReadModule[]>,
): Promise<{ readonly text: string; readonly exitCode: number }> {
  for (const code of options.rules) ruleOf(code);
  const modules = findModuleDirectories(options.directories, options.cwd);
  const facts = await withReaders((readers, signal) => readFacts(modules, readers, signal));
  const reports: ModuleReport[] = [];
  let fixed = 0;
  for (const { path, module } of facts) {
    const report = lintModule(module, options);
    const findings = options.isFixing ? await fixFindings(path, report.findings) : report.findings;
    fixed += report.findings.length - findings.length;
    reports.push({ ...report, findings });
  }
  const { error, warning } = countFindings(reports);
  const note = fixed > 0 && options.format === 'text' ? `${fixed} fixed: check again\n` : '';
  return {
    text: `${lintReportText(options.format, reports)}${note}`,
    exitCode: error > 0 || (options.isStrict && warning > 0) ? 1 : 0,
  };
}

async function readFacts(
  modules: readonly ModuleDirectory[],
  readers: ModuleReaders,
  signal: AbortSignal,
): Promise<readonly ReadModule[]> {
  const facts: ReadModule[] = [];
  for (const each of modules) {
    const { path, directory } = each;
    const parsed = await parseModule(each, readers, signal);
    const files = readModuleFiles(realpathSync(path));
    facts.push({ path, module: { directory, directoryName: basename(path), files, parsed } });
  }
  return facts;
}

const ALL_EXECUTE = 0o111;

/**
 * Fixes modes of scripts and line ends, which need no decision.
 *
 * @param directory absolute path of the module
 * @returns the findings that are left
 */
async function fixFindings(
  directory: string,
  findings: readonly LintFinding[],
): Promise<readonly LintFinding[]> {
  for (const finding of findings) await fixFinding(directory, finding);
  return findings.filter(({ fix }) => fix === undefined);
}

async function fixFinding(directory: string, { path, fix }: LintFinding): Promise<void> {
  const file = join(directory, path);
  switch (fix?.type) {
    case undefined:
      return;
    case 'make-executable':
      return await chmod(file, (await stat(file)).mode | ALL_EXECUTE);
    case 'unix-text':
      return writeFileSync(
        file,
        readFileSync(file, 'utf8')
          .replace(/^\u{FEFF}/u, '')
          .replaceAll('\r\n', '\n'),
      );
  }
}
