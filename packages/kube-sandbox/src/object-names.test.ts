import { expect, test } from 'vitest';
import { BUILT_IN_KINDS, type ServedKind } from './kinds.ts';
import { generateName, validateNames } from './object-names.ts';
import type { ResourceObject } from './resource-object.ts';

function kindOf(name: string): ServedKind {
  const kind = BUILT_IN_KINDS.find((candidate) => candidate.kind === name);
  if (kind === undefined) throw new Error(name);
  return kind;
}

function validate(kind: string, name: string, labels: Readonly<Record<string, string>> = {}): void {
  const object: ResourceObject = { kind, apiVersion: 'v1', metadata: { name, labels } };
  validateNames(object, kindOf(kind));
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
  expect(() => validate(kind, name)).not.toThrow();
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
  expect(() => validate(kind, name)).toThrow(problem);
});

test.each(['Value', 'a.b_c-d', '', '1'])('a label may have the value "%s"', (value) => {
  expect(() => validate('ConfigMap', 'a', { key: value })).not.toThrow();
});

test.each([
  ['not valid!', 'a valid label must be an empty string or consist of'],
  ['-a', 'a valid label'],
  ['a'.repeat(64), 'must be no more than 63 bytes'],
])('a label must not have the value "%s"', (value, problem) => {
  expect(() => validate('ConfigMap', 'a', { key: value })).toThrow(problem);
});

test('generateName() adds five letters, and shortens what would be too long', () => {
  expect(generateName('run-', () => 0.999)).toBe('run-99999');
  expect(generateName('a'.repeat(80), () => 0)).toBe(`${'a'.repeat(58)}bbbbb`);
});
