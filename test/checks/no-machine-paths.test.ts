import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

/** Where this checkout and its user live, and the homes that are the same on many machines. */
const MACHINE_PATHS = [
  literal(projectRoot),
  literal(`${homedir()}/`),
  /(?<![\w.$-])\/root\/(?!\.\.)/,
  /(?<![\w.$-])\/Users\/[A-Za-z]/,
];

const GENERATED = /(?:^|\/)(?:package-lock\.json|go\.sum)$/;

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

function findMachinePaths(file: string, source: string): Finding[] {
  return source
    .split('\n')
    .flatMap((text, index) =>
      MACHINE_PATHS.some((pattern) => pattern.test(text))
        ? [{ file, line: index + 1, text: text.trim() }]
        : [],
    );
}

test('no file of the repository names a path of the machine it was written on', async () => {
  const { stdout } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
  });
  const findings = stdout
    .split('\0')
    .filter((file) => file !== '' && !GENERATED.test(file) && !file.endsWith('no-machine-paths.test.ts'))
    .flatMap((file) => findMachinePaths(file, readIfPresent(file)));
  expect(findings).toEqual([]);
});

test.each([`cd ${projectRoot}/src`, `'${homedir()}/.cache/x'`, 'see /Users/joe/notes'])(
  'a planted path is reported: %s',
  (text) => {
    expect(findMachinePaths('a.ts', `first\n${text}`)).toMatchObject([{ line: 2 }]);
  },
);

test.each(['https://host/Users/joe', '$CHART/root/x', 'a/root/b'])(
  'a similar path is not reported: %s',
  (text) => {
    expect(findMachinePaths('a.ts', text)).toEqual([]);
  },
);

/** The path, where it begins a word. */
function literal(path: string): RegExp {
  return new RegExp(`(?<![\\w.$-])${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}

/** A file that is listed and gone was just deleted. */
function readIfPresent(file: string): string {
  try {
    return readFileSync(join(projectRoot, file), 'utf8');
  } catch {
    return '';
  }
}
