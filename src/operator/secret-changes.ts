import { GLOBAL_SECTION } from '../values/module-key.ts';
import { referenceTitle, type SecretReference } from '../values/secrets/secret-reference.ts';
import type { Operator } from './operator.ts';

/**
 * Turns changed texts of Secrets into tasks, as any change of values: a module that refers to one runs again, global
 * values that do reload all modules.
 */
export function onSecretsChange(operator: Operator, changed: readonly SecretReference[]): void {
  const { values, log } = operator.deps;
  const titles = new Set(changed.map(referenceTitle));
  log.info({ secrets: [...titles] }, 'Secrets that values refer to have changed');
  for (const [owner, references] of values.secretReferences()) {
    if (!references.some((reference) => titles.has(referenceTitle(reference)))) continue;
    if (owner !== GLOBAL_SECTION) operator.queueModuleRun(owner, 'Secret-Changed');
    else if (operator.discovery !== undefined)
      operator.queueConverge('GlobalValuesChanged', 'Secret-Changed-GlobalValues');
  }
  // What waits after a failure may have waited for just this Secret.
  operator.main.cutDelay();
}
