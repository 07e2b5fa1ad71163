import { expect, test } from 'vitest';
import { immutableProblems } from './immutable-fields.ts';
import { BUILT_IN_KINDS } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

function change(kindName: string, before: object, after: object): string {
  const kind = BUILT_IN_KINDS.find((candidate) => candidate.kind === kindName);
  if (kind === undefined) throw new Error(kindName);
  const object = (fields: object): ResourceObject => ({
    kind: kindName,
    apiVersion: 'v1',
    metadata: { name: 'a' },
    ...fields,
  });
  const problems = immutableProblems(kind, object(before), object(after));
  return problems.map(({ field, message }) => `${field}: ${message}`).join();
}

test.each([
  [
    'Deployment',
    { spec: { selector: { a: 1 } } },
    { spec: { selector: { a: 2 } } },
    'spec.selector: Invalid value',
  ],
  ['Job', { spec: { template: { a: 1 } } }, { spec: { template: { a: 2 } } }, 'field is immutable'],
  ['Secret', { type: 'a' }, { type: 'b' }, 'type: Invalid value: "b": field is immutable'],
  [
    'StatefulSet',
    { spec: { serviceName: 'a' } },
    { spec: { serviceName: 'b' } },
    'updates to statefulset spec',
  ],
  [
    'ConfigMap',
    { immutable: true, data: { a: '1' } },
    { immutable: true, data: { a: '2' } },
    'data: Forbidden',
  ],
  ['ConfigMap', { immutable: true }, {}, 'immutable: Forbidden'],
  ['RoleBinding', { roleRef: { name: 'a' } }, { roleRef: { name: 'b' } }, 'cannot change roleRef'],
])('a %s may not change from %j to %j', (kind, before, after, problem) => {
  expect(change(kind, before, after)).toContain(problem);
});

test.each([
  [
    'Deployment',
    { spec: { replicas: 1, selector: { a: 1 } } },
    { spec: { replicas: 2, selector: { a: 1 } } },
  ],
  ['StatefulSet', { spec: { template: 1 } }, { spec: { template: 2, replicas: 3 } }],
  ['ConfigMap', { data: { a: '1' } }, { data: { a: '2' }, immutable: true }],
  ['RoleBinding', { roleRef: { name: 'a' }, subjects: [] }, { roleRef: { name: 'a' }, subjects: [1] }],
])('a %s may change from %j to %j', (kind, before, after) => {
  expect(change(kind, before, after)).toBe('');
});
