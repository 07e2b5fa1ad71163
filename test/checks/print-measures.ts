/** `npm run measures`: prints all measures of the checkout; with `--totals` only the lines that the gate shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { markdownTable } from '@addon-operator/strings/markdown-table';
import { projectRoot } from './checkout.ts';
import {
  folderSizes,
  isTest,
  longestFunctions,
  type MeasuredFile,
  type Measures,
  measureFiles,
  measuresOf,
  measuresOfFolders,
  repeatedNames,
  type Spread,
  smallWithOneImporter,
} from './measures.ts';
import { importsOfProject, sourcesOfProject } from './project-imports.ts';
import { type CountedType, countParts } from './type-parts.ts';

const FOLDERS = ['src', 'packages', 'ui', 'bench', 'release', 'deploy', 'bin', 'test'];
const CENTRE = 'src/app/build-operator.ts';

function sourcesOfCheckout(): ReadonlyMap<string, string> {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      posix.join(folder, name),
    ),
  );
  return new Map(
    names
      .filter((name) => /\.(?:ts|tsx|mjs)$/.test(name) && !name.includes('node_modules/'))
      .map((name) => [name, readFileSync(join(projectRoot, name), 'utf8')]),
  );
}

const PRODUCT = ['src/', 'packages/'];
const [all, isBrief] = [measureFiles(sourcesOfCheckout()), process.argv.includes('--totals')];
const totals = [
  measuresOf('src', all, ['src/']),
  measuresOf('packages', all, ['packages/']),
  measuresOf('src + packages', all, PRODUCT, ['test/']),
  measuresOf('ui', all, ['ui/'], ['test/browser/']),
  measuresOf('bench, release, deploy, bin', all, ['bench/', 'release/', 'deploy/', 'bin/']),
];
if (isBrief) printTotals(totals);
else printAll(all, totals);

function printTotals(rows: readonly Measures[]): void {
  for (const { name, files, codeLines, commentShare, testRatio } of rows) {
    const tests = name === 'src + packages' ? `, ${testRatio.toFixed(2)} lines of tests for each` : '';
    print(
      `measure ${name}: ${codeLines.toLocaleString('en')} lines of code in ${files} files, comments ${percent(commentShare)}${tests}`,
    );
  }
}

function printAll(files: readonly MeasuredFile[], rows: readonly Measures[]): void {
  const tests = files.filter(({ file }) => file.startsWith('test/'));
  const lines = tests.reduce((sum, { size }) => sum + size.codeLines, 0);
  section('Totals', tableOf(rows));
  print(`test/ holds ${lines.toLocaleString('en')} lines of code in ${tests.length} files.`);
  section('Rooms of src', tableOf(measuresOfFolders(files, 'src/')));
  section('Packages', tableOf(measuresOfFolders(files, 'packages/')));
  const folders = folderSizes(files, 'src/').slice(0, 8);
  section(
    'Largest folders of src, beside tests',
    markdownTable(
      ['folder', 'files'],
      folders.map(([name, count]) => [name, String(count)]),
    ),
  );
  const product = files.filter(({ file }) => PRODUCT.some((folder) => file.startsWith(folder)));
  section('Longest functions', functionTable(product));
  const types = countParts(
    { root: projectRoot },
    (file) => /^(?:src|packages)\//.test(file) && !isTest(file),
  );
  section('Exported types with the most parts', typeTable(types, 'parts'));
  section('Exported types with the most members', typeTable(types, 'members'));
  const centre = files.find(({ file }) => file === CENTRE);
  if (centre !== undefined) section(`Imports of ${CENTRE}`, `${centre.size.imports}\n`);
  section('Types that are exported under the same name', nameTable(repeatedNames(product, 'types')));
  section('Values that are exported under the same name', nameTable(repeatedNames(product, 'values')));
  const imports = importsOfProject(sourcesOfProject()).map((one) => ({
    ...one,
    from: posix.join('src', one.from),
    to: one.isOwn ? posix.join('src', one.to) : one.to,
  }));
  const small = smallWithOneImporter(product, imports).map(({ file, what }) => [file, what]);
  section(
    `Files below 40 lines with one importer: ${small.length}`,
    markdownTable(['file', 'importer'], small),
  );
}

function tableOf(rows: readonly Measures[]): string {
  const header = [
    'what',
    'files',
    'code lines',
    'comments',
    'test:code',
    'file median/p90/max',
    'function median/p90/max',
  ];
  return markdownTable(
    header,
    rows.map((row) => [
      row.name,
      String(row.files),
      row.codeLines.toLocaleString('en'),
      percent(row.commentShare),
      row.testRatio.toFixed(2),
      spread(row.fileLines),
      spread(row.functionLines),
    ]),
  );
}

function functionTable(files: readonly MeasuredFile[]): string {
  return markdownTable(
    ['function', 'code lines', 'place'],
    longestFunctions(files, 12).map(({ file, what }) => [
      what.name,
      String(what.codeLines),
      `${file}:${what.line}`,
    ]),
  );
}

function typeTable(types: readonly CountedType[], order: 'parts' | 'members'): string {
  return markdownTable(
    ['type', 'parts', 'members', 'place'],
    types
      .toSorted((a, b) => b[order] - a[order])
      .slice(0, 12)
      .map(({ name, parts, members, file }) => [name, String(parts), String(members), file]),
  );
}

function nameTable(names: ReadonlyMap<string, readonly string[]>): string {
  return markdownTable(
    ['name', 'files'],
    [...names].map(([name, files]) => [name, files.join(' ')]),
  );
}

function section(title: string, content: string): void {
  print(`\n## ${title}\n\n${content.trimEnd()}`);
}

function spread({ median, p90, max }: Spread): string {
  return `${median}/${p90}/${max}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
