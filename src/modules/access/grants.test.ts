import { expect, test } from 'vitest';
import { grantsFor } from './grants.ts';

const secrets = { group: '', resource: 'secrets', verbs: ['get', 'create'] };
const pods = { group: '', resource: 'pods', verbs: ['list', 'watch'] };

test('what is needed in one namespace is granted there, the rest everywhere', () => {
  const { everywhere, namespaces } = grantsFor([
    { ...secrets, namespace: 'web' },
    pods,
    { ...pods, namespace: 'db' },
    { ...secrets, namespace: 'db' },
    { urls: ['/metrics'], verbs: ['get'] },
  ]);
  expect(everywhere).toEqual([
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { nonResourceURLs: ['/metrics'], verbs: ['get'] },
  ]);
  const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create'] };
  expect([...namespaces]).toEqual([
    ['db', [rule]],
    ['web', [rule]],
  ]);
});

test('a namespace gets only the verbs that do not hold everywhere', () => {
  const { namespaces } = grantsFor([
    pods,
    { ...pods, verbs: ['list', 'create'], namespace: 'web' },
    { ...pods, verbs: ['watch'], namespace: 'db' },
  ]);
  expect([...namespaces]).toEqual([['web', [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }]]]);
});

test('access to single objects everywhere does not include all of a namespace', () => {
  const { namespaces } = grantsFor([
    { ...secrets, names: ['one'] },
    { ...secrets, namespace: 'web' },
  ]);
  expect([...namespaces.keys()]).toEqual(['web']);
});

test('no Role can be created in a namespace that does not exist yet', () => {
  const { everywhere, namespaces } = grantsFor([{ ...secrets, namespace: 'web' }], new Set(['web']));
  expect(everywhere).toEqual([{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create'] }]);
  expect(namespaces.size).toBe(0);
});
