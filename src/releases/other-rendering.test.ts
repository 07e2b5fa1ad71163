import { expect, test } from 'vitest';
import { asOtherRendering, asOtherValues } from './second-rendering.ts';

const NOW = '(((now).AddDate 1 1 4).Add 47843000000000)';

test.each([
  ['{{ now | date "2006" }}', `{{ ${NOW} | date "2006" }}`],
  ['{{ now.Unix }}', `{{ ${NOW}.Unix }}`],
  ['{{ ago $t }} {{ randInt 0 3 }}', '{{ kindOf $t }} {{ max 0 3 }}'],
  ['{{ tpl "{{ now }}" . }}', `{{ tpl "{{ ${NOW} }}" . }}`],
  ['{{ printf "as of now" }} {{ `now` }}', '{{ printf "as of now" }} {{ `now` }}'],
  ['{{ .Values.now }} {{ $now }} {{ nowhere }} now', '{{ .Values.now }} {{ $now }} {{ nowhere }} now'],
  ['{{ randAlphaNum 8 }}', '{{ randAlphaNum 8 }}'],
])('asOtherRendering() of %s', (template, expected) => {
  expect(asOtherRendering(template)).toBe(expected);
});

test('asOtherValues() goes through all texts', () => {
  const values = { web: { texts: ['{{ now }}', 1, null] }, n: 2 };
  expect(asOtherValues(values)).toEqual({ web: { texts: [`{{ ${NOW} }}`, 1, null] }, n: 2 });
});
