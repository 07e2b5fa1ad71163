import type { SecretReference } from '../../values/secrets/secret-reference.ts';
import type { Access } from './policy-rules.ts';

/**
 * What the operator needs to follow the Secrets that values refer to. In its own namespace it may read them anyway, since
 * releases lie there.
 */
export function accessOfSecrets(references: readonly SecretReference[], ownNamespace: string): Access[] {
  const elsewhere = references.filter(({ namespace }) => namespace !== ownNamespace);
  const names = [...new Set(elsewhere.map(({ name }) => name))];
  return names.map((name) => ({ group: '', resource: 'secrets', verbs: ['list', 'watch'], names: [name] }));
}
