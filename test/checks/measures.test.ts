import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import {
  folderSizes,
  longestFunctions,
  measureFiles,
  measuresOf,
  measuresOfFolders,
  repeatedNames,
  smallWithOneImporter,
} from './measures.ts';

const lines = (count: number): string => 'call();\n'.repeat(count);
const files = measureFiles(
  new Map([
    ['src/main.ts', lines(1)],
    ['src/a/one.ts', `// why\n${lines(3)}export type Same = string;\nexport function f() {}\n`],
    ['src/a/two.ts', `${lines(9)}export interface Same {}\n`],
    ['src/a/two.test.ts', lines(7)],
    ['src/a/deep/three.ts', `export function f() {\n  call();\n}\nexport type Only = string;\n`],
    ['src/b/four.ts', lines(50)],
    ['packages/p/src/five.ts', lines(2)],
    ['packages/p/test/example.ts', lines(8)],
    ['test/all.ts', `${lines(4)}export type Only = number;\n`],
  ]),
);

test('measuresOf() counts tests beside the files and in folders that are named, not as code', () => {
  const measures = measuresOf('all', files, ['src/', 'packages/'], ['test/']);
  expect(measures).toEqual({
    name: 'all',
    files: 6,
    codeLines: 72,
    commentShare: 1 / 73,
    testRatio: 20 / 72,
    fileLines: { median: 5, p90: 50, max: 50 },
    functionLines: { median: 3, p90: 3, max: 3 },
  });
  expect(measuresOf('none', files, ['ui/'])).toMatchObject({ files: 0, codeLines: 0, testRatio: 0 });
});

test('measuresOfFolders() has one row for each folder, the largest first, and one for the files beside them', () => {
  const rows = measuresOfFolders(files, 'src/').map((row) => [row.name, row.files, row.codeLines]);
  expect(rows).toEqual([
    ['b', 1, 50],
    ['a', 3, 19],
    ['files beside them', 1, 1],
  ]);
});

test('folderSizes() counts the files of each folder without tests', () => {
  expect(folderSizes(files, 'src/a/')).toEqual([
    ['src/a', 2],
    ['src/a/deep', 1],
  ]);
});

test('longestFunctions() names the longest and its place', () => {
  expect(longestFunctions(files, 1)).toEqual([
    { file: 'src/a/deep/three.ts', what: { name: 'f', line: 1, codeLines: 3 } },
  ]);
});

test('repeatedNames() lists names that several files declare, those of tests left out', () => {
  expect([...repeatedNames(files, 'types')]).toEqual([['Same', ['src/a/one.ts', 'src/a/two.ts']]]);
  expect([...repeatedNames(files, 'values')]).toEqual([['f', ['src/a/deep/three.ts', 'src/a/one.ts']]]);
});

test('smallWithOneImporter() lists small files that one file imports', () => {
  const from = (importer: string, to: string) => ({ from: importer, to, isOwn: true, isTypeOnly: false });
  const imports = [
    from('src/main.ts', 'src/a/one.ts'),
    from('src/main.ts', 'src/a/one.ts'),
    from('src/main.ts', 'src/a/two.ts'),
    from('src/b/four.ts', 'src/a/two.ts'),
    from('src/a/one.ts', 'src/b/four.ts'),
  ];
  expect(smallWithOneImporter(files, imports)).toEqual([{ file: 'src/a/one.ts', what: 'src/main.ts' }]);
});

test('print-measures.ts --totals prints one line for each part of the checkout', async () => {
  const program = join(projectRoot, 'test/checks/print-measures.ts');
  const { stdout } = await execa(process.execPath, [program, '--totals']);
  expect(stdout.replaceAll(/\d[\d,.]*/g, 'N').split('\n')).toEqual([
    'measure src: N lines of code in N files, comments N %',
    'measure packages: N lines of code in N files, comments N %',
    'measure src + packages: N lines of code in N files, comments N %, N lines of tests for each',
    'measure ui: N lines of code in N files, comments N %',
    'measure bench, release, deploy, bin: N lines of code in N files, comments N %',
  ]);
});
