import { expect, test } from 'vitest';
import { chartTraits } from './chart-functions.ts';

const none = { usesCapabilities: false, outsideFunctions: [], changingFunctions: [] };

test.each([
  ['a plain chart', '{{ .Values.web.image | quote }}', none],
  ['lookup', '{{- $s := (lookup "v1" "Secret" "ns" "x") }}', { ...none, outsideFunctions: ['lookup'] }],
  [
    'random and time functions',
    '{{ randAlphaNum 8 }}-{{ now | date "2006" }}',
    { ...none, changingFunctions: ['now', 'randAlphaNum'] },
  ],
  ['capabilities', '{{ if .Capabilities.APIVersions.Has "x/v1" }}', { ...none, usesCapabilities: true }],
  [
    'fields and variables of such names',
    '{{ .Values.now }} {{ $lookup := 1 }}{{ $lookup }} {{ .lookup }}',
    none,
  ],
  ['such words outside of actions', 'now lookup uuidv4', none],
  ['comments', '{{- /* lookup now .Capabilities */ -}}', none],
  ['longer words', '{{ include "x.knows" . }} {{ nowhere }}', none],
  ['an action over several lines', '{{ if\n  lookup\n  "v1" }}', { ...none, outsideFunctions: ['lookup'] }],
])('chartTraits() of %s', (_case, text, expected) => {
  expect(chartTraits([text])).toEqual(expected);
});
