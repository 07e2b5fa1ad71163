import type { Field } from './field.ts';
import { dnsSubdomain } from './name-rules.ts';
import { validatePositiveQuantity } from './validate-container.ts';
import { validateSelector } from './validate-meta.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Checks the spec of a PersistentVolumeClaim, with its defaults filled in. */
export function validateClaimSpec(spec: Field): void {
  const accessModes = spec.at('accessModes');
  const modes = accessModes.list.map(String);
  if (modes.length === 0) accessModes.required('at least 1 access mode is required');
  validateSelector(spec.at('selector'));
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  for (const mode of modes) if (!known.includes(mode)) accessModes.notSupported(ACCESS_MODES, mode);
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod'))
    accessModes.forbidden('may not use ReadWriteOncePod with other access modes');
  const storage = spec.at('resources', 'requests', 'storage').named(`${spec.path}.resources[storage]`);
  if (storage.isSet) validatePositiveQuantity(storage);
  else storage.required();
  spec.at('storageClassName').checkIfSet(dnsSubdomain);
  spec.at('volumeMode').oneOfIfSet(['Block', 'Filesystem']);
}
