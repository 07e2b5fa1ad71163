import { expect, test } from 'vitest';
import { mayUseGlobals } from './global-use.ts';

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
