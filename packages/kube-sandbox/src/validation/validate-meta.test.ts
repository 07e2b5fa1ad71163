import { expect, test } from 'vitest';
import { builtInKind } from '../../test/api-lab.ts';
import { Field } from './field.ts';
import { validateMeta } from './validate-meta.ts';

function problemsOf(kind: string, name: string, labels: Readonly<Record<string, string>> = {}): string {
  const object = new Field({ metadata: { name, labels } });
  validateMeta(object, builtInKind(kind), false);
  return object.causes.map(({ field, message }) => `${field}: ${message}`).join('; ');
}

test.each([
  ['ConfigMap', 'a'],
  ['ConfigMap', 'a.b-c.9'],
  ['ConfigMap', 'a'.repeat(253)],
  ['Namespace', 'a-b'],
  ['Service', 'web'],
  ['ClusterRole', 'system:controller:A_b'],
  ['RoleBinding', 'Any.Thing'],
])('a %s may be called %s', (kind, name) => {
  expect(problemsOf(kind, name)).toBe('');
});

test.each([
  ['ConfigMap', 'Bad_Name', 'a lowercase RFC 1123 subdomain'],
  ['ConfigMap', '-a', 'a lowercase RFC 1123 subdomain'],
  ['ConfigMap', 'a'.repeat(254), 'must be no more than 253'],
  ['Namespace', 'a.b', 'must not contain dots'],
  ['Namespace', 'A', 'a lowercase RFC 1123 label'],
  ['Namespace', 'a'.repeat(64), 'must be no more than 63'],
  ['Service', '9web', 'a DNS-1035 label'],
  ['ClusterRole', 'a/b', "may not contain '/'"],
  ['ClusterRole', 'a%b', "may not contain '%'"],
  ['ClusterRole', '..', "may not be '..'"],
  ['ConfigMap', '', 'name or generateName is required'],
])('a %s must not be called %s', (kind, name, problem) => {
  expect(problemsOf(kind, name)).toContain(problem);
});

test.each(['Value', 'a.b_c-d', '', '1'])('a label may have the value "%s"', (value) => {
  expect(problemsOf('ConfigMap', 'a', { key: value })).toBe('');
});

test.each([
  ['not valid!', 'a valid label must be an empty string or consist of'],
  ['-a', 'a valid label'],
  ['a'.repeat(64), 'must be no more than 63 characters'],
])('a label must not have the value "%s"', (value, problem) => {
  expect(problemsOf('ConfigMap', 'a', { key: value })).toContain(problem);
});
