import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LintFinding } from './lint.ts';

const ALL_EXECUTE = 0o111;

/**
 * Fixes modes of scripts and line ends, which need no decision.
 *
 * @param directory absolute path of the module
 * @returns the findings that are left
 */
export async function fixFindings(
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
