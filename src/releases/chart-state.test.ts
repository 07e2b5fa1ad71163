import { gzipSync } from 'node:zlib';
import type { ChartFile } from '@addon-operator/helm/chart-source';
import { expect, test } from 'vitest';
import { inputDigest, mayUseGlobals, type RenderInputs, readableValues, traitsOf } from './chart-state.ts';

function file(path: string, content: string): ChartFile {
  return { path, content: Buffer.from(content) };
}

const inputs: RenderInputs = {
  release: 'web',
  namespace: 'ops',
  helmVersion: '3.19.5',
  files: [file('Chart.yaml', 'name: web'), file('templates/a.yaml', 'kind: X')],
  values: { global: {}, web: { a: 1, b: [1, 2] } },
  extraLabels: { heritage: 'addon-operator' },
  capabilities: [],
};

test('inputDigest() does not depend on the order of keys', () => {
  const values = { web: { b: [1, 2], a: 1 }, global: {} };
  expect(inputDigest({ ...inputs, values })).toBe(inputDigest(inputs));
});

test('inputDigest() is the same as ever when nothing changes the rendering afterwards', () => {
  expect(inputDigest({ ...inputs, stepsDigest: '' })).toBe(inputDigest(inputs));
  expect(inputDigest({ ...inputs, stepsDigest: 'a' })).not.toBe(inputDigest({ ...inputs, stepsDigest: 'b' }));
});

test('inputDigest() fits into a label value', () => {
  expect(inputDigest(inputs)).toMatch(/^[0-9a-f]{40}$/);
});

test.each<[string, Partial<RenderInputs>]>([
  ['a value', { values: { global: {}, web: { a: 2, b: [1, 2] } } }],
  ['the order of a list', { values: { global: {}, web: { a: 1, b: [2, 1] } } }],
  [
    'the content of a file',
    { files: [file('Chart.yaml', 'name: web'), file('templates/a.yaml', 'kind: Y')] },
  ],
  ['the name of a file', { files: [file('Chart.yaml', 'name: web'), file('templates/b.yaml', 'kind: X')] }],
  [
    'the border between two files',
    { files: [file('Chart.yaml', 'name: webtemplates/a.yaml'), file('', 'kind: X')] },
  ],
  ['the extra labels', { extraLabels: {} }],
  ['the capabilities', { capabilities: ['v1.34.2'] }],
  ['helm', { helmVersion: '4.1.4' }],
])('inputDigest() changes with %s', (_case, change) => {
  expect(inputDigest({ ...inputs, ...change })).not.toBe(inputDigest(inputs));
});

test('traitsOf() looks into values where the chart makes templates of them', () => {
  const values = { web: { text: '{{ lookup "v1" "Secret" "" "" }}' } };
  expect(traitsOf([file('templates/a.yaml', '{{ .Values.web.text }}')], values).outsideFunctions).toEqual([]);
  expect(
    traitsOf([file('templates/a.yaml', '{{ tpl .Values.web.text . }}')], values).outsideFunctions,
  ).toEqual(['lookup']);
});

test('traitsOf() looks into packed subcharts, and assumes the worst of broken ones', () => {
  const packed: ChartFile = { path: 'charts/sub.tgz', content: gzipSync('x {{ now }} y') };
  expect(traitsOf([packed], {}).changingFunctions).toEqual(['now']);
  expect(traitsOf([file('charts/sub.tgz', 'broken')], {}).outsideFunctions).toEqual(['lookup']);
});

test('readableValues() leaves global values out for a chart that cannot read them', () => {
  const values = { global: { a: 1 }, web: { b: 2 } };
  expect(readableValues([file('templates/a.yaml', '{{ .Values.web.b }}')], values)).toEqual({
    web: { b: 2 },
  });
  expect(readableValues([file('templates/a.yaml', '{{ toYaml . }}')], values)).toBe(values);
  const archive = { path: 'charts/sub-1.tgz', content: gzipSync('{{ .Values.global.a }}') };
  expect(readableValues([archive], values)).toBe(values);
});

test.each([
  [
    'fields of values',
    '{{ .Values.web.image | quote }} {{ $.Values.web.tag }} {{ $x := .Values.web }}{{ $x.a }}',
  ],
  ['included templates', '{{ include "web.labels" . | nindent 4 }}{{ template "x" $ }}{{- include "x" .}}'],
  ['a checksum of a template', '{{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}'],
  ['release, files and numbers', '{{ .Release.Name }} {{ .Files.Get "a.conf" }} {{ mul 1.5 2 }}'],
  ['dots in strings and comments', '{{ printf "%s. $ ." .Values.web.a }}{{/* see . and $ */}} 1. $ .'],
])('a chart with %s cannot', (_case, text) => {
  expect(mayUseGlobals([{ path: 'templates/a.yaml', text }])).toBe(false);
});

test.each([
  ['the name', '{{ .Values.global.domain }}'],
  ['the name in a string', '{{ index .Values "global" }}'],
  ['all values', '{{ toYaml .Values }}'],
  ['all values in brackets', '{{ range $k, $v := (.Values) }}'],
  ['values looked up by name', '{{ get $ "Values" }}'],
  ['values by a method', '{{ .Values.AsMap | toJson }}'],
  ['the whole context', '{{ toYaml . }}'],
  ['the root context', '{{ $ | toJson }}'],
  ['the context kept in a variable', '{{ $all := . }}'],
  ['the context in a list', '{{ include "x" (list . 1) }}'],
  ['what may be the context', '{{ with .Values.web }}{{ . }}{{ end }}'],
  ['text evaluated as template', '{{ tpl .Values.web.text . }}'],
  ['subcharts', '{{ toYaml .Subcharts }}'],
])('a chart with %s may', (_case, text) => {
  expect(mayUseGlobals([{ path: 'templates/a.yaml', text }])).toBe(true);
});

test('conditions, defaults, schemas and packed subcharts count, too; hooks and documents do not', () => {
  const text = 'global.x';
  for (const path of [
    'Chart.yaml',
    'values.yaml',
    'values.schema.json',
    'charts/a-1.tgz',
    'charts/a/templates/b',
  ])
    expect(mayUseGlobals([{ path, text }])).toBe(true);
  for (const path of ['hooks/a.sh', 'README.md', 'crds/a.yaml'])
    expect(mayUseGlobals([{ path, text }])).toBe(false);
});
