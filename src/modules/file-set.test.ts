import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { entriesAmong, entriesWithContent, type FileSet, lostEntries, readDigests } from './file-set.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'file-set-'));
});

afterEach(() => rm(root, { recursive: true }));

const FILES = {
  'values.yaml': 'a: 1',
  'Chart.yaml': 'name: web',
  'templates/a.yaml': 'a',
  'templates/b.yaml': 'b',
  'hooks/h.sh': '#!/bin/sh',
};

async function fileSet(files: Readonly<Record<string, string>>): Promise<FileSet> {
  await rm(root, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const tops = Object.keys(files).map((path) => path.split('/')[0] ?? '');
  const entries = await entriesWithContent(root, entriesAmong(tops));
  return { entries, digests: await readDigests(root) };
}

/** The files without these, and with others. */
function changed(without: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const left = Object.entries(FILES).filter(([path]) => !without.includes(path));
  return { ...Object.fromEntries(left), ...more };
}

test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  ['nothing has changed', FILES, []],
  ['values.yaml is gone and all else is as it was', changed(['values.yaml']), ['values.yaml']],
  [
    'values.yaml and a part of the others are gone',
    changed(['values.yaml', 'templates/a.yaml']),
    ['values.yaml'],
  ],
  ['templates are gone', changed(['templates/a.yaml', 'templates/b.yaml']), ['templates']],
  [
    'Chart.yaml and values.yaml are gone',
    changed(['values.yaml', 'Chart.yaml']),
    ['values.yaml', 'Chart.yaml'],
  ],
  [
    'values.yaml is gone and a template was edited',
    changed(['values.yaml'], { 'templates/a.yaml': 'new' }),
    [],
  ],
  ['values.yaml is gone and a file was added', changed(['values.yaml'], { 'hooks/new.sh': '#!/bin/sh' }), []],
  ['hooks are gone, which decide nothing about the release', changed(['hooks/h.sh']), []],
  ['values.yaml was cut to nothing', changed([], { 'values.yaml': '' }), ['values.yaml']],
  [
    'all templates and Chart.yaml were cut to nothing',
    changed([], { 'templates/a.yaml': '', 'templates/b.yaml': '', 'Chart.yaml': '' }),
    ['Chart.yaml', 'templates'],
  ],
  ['one of two templates was cut to nothing', changed([], { 'templates/a.yaml': '' }), []],
  [
    'values.yaml was cut to nothing and a template was edited',
    changed([], { 'values.yaml': '', 'templates/a.yaml': 'new' }),
    [],
  ],
  ['templates are gone and all else is new', { 'values.yaml': 'b: 2', 'Chart.yaml': 'name: new' }, []],
])('lostEntries() when %s', async (_what, files, expected) => {
  const before = await fileSet(FILES);
  expect(lostEntries(before, await fileSet(files))).toEqual(expected);
});

test('lostEntries() knows a lost file of a module with more files than are compared', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`templates/${1000 + index}.yaml`, `${index}`]),
  );
  const before = await fileSet({ 'values.yaml': 'a: 1', ...many });
  expect(before.digests).toHaveLength(250);
  expect(lostEntries(before, await fileSet(many))).toEqual(['values.yaml']);
  expect(lostEntries(before, await fileSet({ ...many, 'templates/1000.yaml': 'new' }))).toEqual([]);
});

test('readDigests() compares large files by their size', async () => {
  const large = 'x'.repeat(100_000);
  const [before] = (await fileSet({ 'hooks/program': large })).digests;
  expect((await fileSet({ 'hooks/program': large.replace('x', 'y') })).digests).toEqual([before]);
  expect((await fileSet({ 'hooks/program': `${large}x` })).digests).not.toEqual([before]);
});

test('a link that leads nowhere and a directory without files are no content', async () => {
  await mkdir(join(root, 'templates/parts'), { recursive: true });
  await symlink('nowhere', join(root, 'values.yaml'));
  await symlink('Chart.yaml', join(root, 'Chart.yaml'));
  const entries = entriesAmong(['values.yaml', 'Chart.yaml', 'templates', 'hooks']);
  expect(await entriesWithContent(root, entries)).toEqual(['hooks']);
  expect(await readDigests(root)).toEqual([]);
});
