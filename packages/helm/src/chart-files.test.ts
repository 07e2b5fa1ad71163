import { describe, expect, test } from 'vitest';
import { type ChartSelection, holdsChartFiles, isChartFile, selectChartFiles } from './chart-files.ts';

const paths = (...read: readonly string[]): ChartSelection => ({ type: 'paths', paths: read });

describe('selectChartFiles() takes', () => {
  test.each<readonly [string, string, ChartSelection]>([
    ['no file where templates read none', '{{ .Values.web.profiles }}', paths()],
    ['no file for a comment', '{{/* .Files.Get "a" */}}', paths()],
    ['no file for text outside of actions', 'Files: {{ .Values.a }}', paths()],
    ['a file', '{{ .Files.Get "config/a.conf" }}', paths('config/a.conf')],
    ['a hook that is deployed', '{{- .Files.Get `hooks/a.sh` | b64enc }}', paths('hooks/a.sh')],
    ['files of any context', '{{ $.Files.Lines "a" }}{{ $root.Files.GetBytes "b" }}', paths('a', 'b')],
    ['each file once', '{{ .Files.Get "a" }}{{ .Files.Get "a" }}', paths('a')],
    ['the directory of a pattern', '{{ (.Files.Glob "dash/*.json").AsConfig }}', paths('dash')],
    ['the directory above a pattern', '{{ range $p, $f := .Files.Glob "a/b*/c.yaml" }}', paths('a')],
    ['files beside Chart.yaml', '{{ .Files.Glob "*.json" }}', paths('.')],
    [
      'what a pattern without a directory may match',
      '{{ .Files.Glob "**.yaml" }}{{ .Files.Get "b" }}',
      { type: 'paths', paths: ['b'], patterns: [/^.*\.yaml$/s] },
    ],
    ['everything for a pattern that is escaped', '{{ .Files.Glob "*/\\\\*" }}', paths('')],
  ])('%s: %s', (_what, template, selection) => {
    expect(selectChartFiles([template], {})).toEqual(selection);
  });
});

const REST = ['crds', 'customizations', 'docs', 'hooks', 'images', 'openapi', 'tests', 'venv'];
const allBut = (...named: readonly string[]): ChartSelection => ({
  type: 'all-but',
  directories: REST.filter((name) => !named.includes(name)),
});

describe('selectChartFiles() takes all but what is not for templates', () => {
  test.each<readonly [string, string, object, ChartSelection]>([
    ['for a path that is computed', '{{ .Files.Get .Values.file }}', {}, allBut()],
    ['for files that are handed on', '{{ $files := .Files }}', {}, allBut()],
    ['for files by name', '{{ index . "Files" }}', {}, allBut()],
    ['for a path from a pipe', '{{ "docs/a" | .Files.Get }}', {}, allBut('docs')],
    [
      'and keeps a directory that a template names',
      '{{ .Files.Get (printf "images/%s" .x) }}',
      {},
      allBut('images'),
    ],
    ['and one that it names alone', '{{ .Files.Glob (printf "%s/*" "docs") }}', {}, allBut('docs')],
    ['and one that a value names', '{{ .Files.Get .Values.a }}', { a: 'hooks/a.sh' }, allBut('hooks')],
    ['but none for a key of values', '{{ .Files.Get .Values.a }}', { images: { docs: 'a' } }, allBut()],
    ['for a file that tpl evaluates', '{{ tpl (.Files.Get "a.tpl") . }}', {}, allBut()],
    ['for values that tpl evaluates', '{{ tpl .Values.a . }}', { a: '{{ .Files.Get "b" }}' }, allBut()],
  ])('%s: %s', (_what, template, values, selection) => {
    expect(selectChartFiles([template], values)).toEqual(selection);
  });
});

test('isChartFile() always takes what helm itself uses', () => {
  for (const path of [
    'Chart.yaml',
    'values.schema.json',
    'templates/a/b.yaml',
    'charts/lib.tgz',
    '.helmignore',
  ])
    expect(isChartFile(path, paths())).toBe(true);
  for (const path of ['hooks/a', 'README.md', 'module.yaml', 'templatesx', 'docs/templates/a.yaml'])
    expect(isChartFile(path, paths())).toBe(false);
});

test('isChartFile() takes what is read, and directories that lead to it can be entered', () => {
  const selection = paths('config/deep/a.conf', 'dash');
  expect(isChartFile('config/deep/a.conf', selection)).toBe(true);
  expect(isChartFile('config/deep/b.conf', selection)).toBe(false);
  expect(isChartFile('dash/x/y.json', selection)).toBe(true);
  expect(isChartFile('dashboards/y.json', selection)).toBe(false);
  expect(holdsChartFiles('config', selection)).toBe(true);
  expect(holdsChartFiles('config/deep', selection)).toBe(true);
  expect(holdsChartFiles('config/other', selection)).toBe(false);
  expect(holdsChartFiles('hooks', selection)).toBe(false);
  expect(isChartFile('a.json', paths('.'))).toBe(true);
  expect(isChartFile('dash/a.json', paths('.'))).toBe(false);
  expect(holdsChartFiles('hooks', paths(''))).toBe(true);
});

test.each<readonly [string, readonly string[], readonly string[]]>([
  ['**.json', ['a.json', 'docs/b/a.json'], ['hooks/batch', 'a.jsonx']],
  ['*/a.yaml', ['x/a.yaml', 'x y/a.yaml'], ['a.yaml', 'x/b.yaml']],
  ['a?/f[0-9].txt', ['a1/f1.txt'], ['hooks/batch', 'a1/f1atxt']],
  ['{dash,rules/a}/*.(x)', ['dash/1.(x)', 'rules/a/1.(x)'], ['dash/1.x']],
  ['**', ['hooks/batch', 'a'], []],
])('the pattern %s takes %j, and not %j', (pattern, taken, others) => {
  const selection = selectChartFiles([`{{ .Files.Glob "${pattern}" }}`], {});
  expect(taken.filter((path) => !isChartFile(path, selection))).toEqual([]);
  expect(others.filter((path) => isChartFile(path, selection))).toEqual([]);
  expect(taken.every((path) => holdsChartFiles(path.split('/')[0] ?? '', selection))).toBe(true);
});
