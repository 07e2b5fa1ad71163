import { expect, test } from 'vitest';
import { accessOfSecrets } from './secret-access.ts';

const reference = (namespace: string, name: string) => ({ namespace, name, key: 'k', isOptional: false });

test('Secrets of other namespaces have to be listed and watched by name there, those of our own need nothing', () => {
  const references = [reference('ours', 'a'), reference('theirs', 'b'), reference('others', 'b')];
  expect(accessOfSecrets(references, 'ours')).toEqual([
    { group: '', resource: 'secrets', verbs: ['list', 'watch'], names: ['b'], namespace: 'theirs' },
    { group: '', resource: 'secrets', verbs: ['list', 'watch'], names: ['b'], namespace: 'others' },
  ]);
});
