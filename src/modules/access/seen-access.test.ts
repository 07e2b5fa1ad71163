import { expect, test } from 'vitest';
import type { ResourceAccess } from './policy-rules.ts';
import { SeenAccess } from './seen-access.ts';

function use(verb: string, resource: string, namespace?: string): ResourceAccess {
  return { group: '', resource, verbs: [verb], ...(namespace !== undefined && { namespace }) };
}

test.each<[string, readonly ResourceAccess[], readonly ResourceAccess[]]>([
  [
    'in one namespace stays there',
    [use('get', 'pods', 'a'), use('patch', 'pods', 'a'), use('get', 'pods', 'a')],
    [{ group: '', resource: 'pods', verbs: ['get', 'patch'], namespace: 'a' }],
  ],
  [
    'in several namespaces holds everywhere',
    [use('get', 'pods', 'a'), use('patch', 'pods', 'b'), use('get', 'pods', 'a')],
    [{ group: '', resource: 'pods', verbs: ['get', 'patch'] }],
  ],
  [
    'outside of namespaces holds everywhere, and other resources stay apart',
    [use('list', 'pods'), use('get', 'pods', 'a'), use('get', 'secrets', 'a')],
    [
      { group: '', resource: 'pods', verbs: ['list', 'get'] },
      { group: '', resource: 'secrets', verbs: ['get'], namespace: 'a' },
    ],
  ],
])('what was seen %s', (_, uses, all) => {
  const seen = new SeenAccess();
  for (const access of uses) seen.note(access);
  expect(seen.all).toEqual(all);
});
