import { expect, test } from 'vitest';
import { chartTraits, mayDifferByItself } from './chart-functions.ts';

const none = { usesCapabilities: false, usesRevision: false, outsideFunctions: [], changingFunctions: [] };

test.each([
  ['a plain chart', '{{ .Values.web.image | quote }}', none],
  ['lookup', '{{- $s := (lookup "v1" "Secret" "ns" "x") }}', { ...none, outsideFunctions: ['lookup'] }],
  [
    'random and time functions',
    '{{ randAlphaNum 8 }}-{{ now | date "2006" }}',
    { ...none, changingFunctions: ['now', 'randAlphaNum'] },
  ],
  ['capabilities', '{{ if .Capabilities.APIVersions.Has "x/v1" }}', { ...none, usesCapabilities: true }],
  ['the number of the release', '{{ .Release.Revision }}', { ...none, usesRevision: true }],
  ['all of the release', '{{ toYaml $.Release }}', { ...none, usesRevision: true }],
  ['names of the release', '{{ .Release.Name }}-{{ $.Release.Namespace }}-{{ .Release.Service }}', none],
  [
    'fields and variables of such names',
    '{{ .Values.now }} {{ $lookup := 1 }}{{ $lookup }} {{ .lookup }}',
    none,
  ],
  ['such words outside of actions', 'now lookup uuidv4', none],
  ['comments', '{{- /* lookup now .Capabilities */ -}}', none],
  [
    'words in a message',
    '{{ fail "lookup failed, set \\"x\\" now" }}{{ required `not ago` .Values.a }}',
    none,
  ],
  [
    'a string that becomes a template',
    '{{ tpl "{{ now }}" . }}{{ tpl (printf "{{ lookup %q }}" "v1") . }}',
    { ...none, outsideFunctions: ['lookup'], changingFunctions: ['now'] },
  ],
  ['a field named in a string', '{{ index . "Capabilities" }}', { ...none, usesCapabilities: true }],
  ['longer words', '{{ include "x.knows" . }} {{ nowhere }}', none],
  ['an action over several lines', '{{ if\n  lookup\n  "v1" }}', { ...none, outsideFunctions: ['lookup'] }],
])('chartTraits() of %s', (_case, text, expected) => {
  expect(chartTraits([text])).toEqual(expected);
});

test.each([
  ['{{ .Values.a }}-{{ .Release.Name }}', false],
  ['{{ .Release.IsInstall }}', true],
  ['{{ lookup "v1" "Secret" "a" "b" }}', true],
  ['{{ uuidv4 }}', true],
])('mayDifferByItself() of %s', (text, expected) => {
  expect(mayDifferByItself(chartTraits([text]))).toBe(expected);
});
