import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { projectRoot, sourcesIn } from './checkout.ts';
import { circles, importsOf } from './import-graph.ts';
import { entryViolations, type Manifest, packageViolations } from './packages.ts';

const NAMES = readdirSync(join(projectRoot, 'packages'));

describe.each(NAMES)('packages/%s', (directory) => {
  const read = (file: string): string => readFileSync(join(projectRoot, 'packages', directory, file), 'utf8');
  const manifest = JSON.parse(read('package.json')) as Manifest;
  const files = sourcesIn(`packages/${directory}`);
  const published = importsOf(new Map([...files].filter(([file]) => file.startsWith('src/'))));

  test('has the name of its directory, and its entry points exist', () => {
    expect(manifest.name).toBe(`@addon-operator/${directory}`);
    expect(entryViolations(manifest, [...files.keys()])).toEqual([]);
  });

  test('imports nothing of the operator, and no package that it does not declare', () => {
    expect(packageViolations(manifest, published)).toEqual([]);
  });

  test('has no import cycles', () => {
    expect(circles(published)).toEqual([]);
  });

  test('has a README with its example and its output', async () => {
    const example = join(projectRoot, 'packages', directory, 'test/example.ts');
    const { stdout } = await execa(process.execPath, ['--no-warnings', example]);
    const blocks = [...read('README.md').matchAll(/^```(?:ts|text)\n([^]*?)^```$/gm)].map(([, text]) => text);
    expect(blocks).toEqual([read('test/example.ts'), `${stdout}\n`]);
  });
});

const PLANTED: Manifest = {
  name: '@addon-operator/a',
  exports: { '.': './src/a.ts' },
  dependencies: { 'js-yaml': '5.5.0' },
};

test.each([
  ["import { x } from '../../../src/lib/json.ts';", 'it is outside of the package'],
  ["import type { X } from '../../b/src/b.ts';", 'it is outside of the package'],
  ["import { x } from '../test/x.ts';", 'it is not published'],
  ["import { x } from '@addon-operator/b';", 'package.json does not declare it'],
  ["const x = await import('pino');", 'package.json does not declare it'],
])('a planted violation is reported: %s', (source, problem) => {
  const imports = importsOf(new Map([['src/a.ts', source]]));
  expect(packageViolations(PLANTED, imports)).toEqual([expect.stringContaining(problem)]);
});

test('an allowed import is not reported', () => {
  const source = "import { load } from 'js-yaml';\nimport 'node:fs';\nimport { b } from './b.ts';";
  expect(packageViolations(PLANTED, importsOf(new Map([['src/a.ts', source]])))).toEqual([]);
});

test('an entry point without a source file is reported', () => {
  const exports = { '.': './src/a.ts', './gone': './src/gone.ts', './test': './test/a.ts' };
  expect(entryViolations({ ...PLANTED, exports }, ['src/a.ts', 'test/a.ts'])).toEqual([
    '@addon-operator/a: the entry point ./gone is ./src/gone.ts, which is no file below src/',
    '@addon-operator/a: the entry point ./test is ./test/a.ts, which is no file below src/',
  ]);
});
