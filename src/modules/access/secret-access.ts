import type { SecretReference } from '../../values/secrets/secret-reference.ts';
import type { Access } from './policy-rules.ts';

/**
 * What the operator needs to follow the Secrets that values refer to. In its own namespace it may read them anyway, since
 * releases lie there.
 */
export function accessOfSecrets(references: readonly SecretReference[], ownNamespace: string): Access[] {
  return references
    .filter(({ namespace }) => namespace !== ownNamespace)
    .map(({ namespace, name }) => ({
      group: '',
      resource: 'secrets',
      verbs: ['list', 'watch'],
      names: [name],
      namespace,
    }));
}
