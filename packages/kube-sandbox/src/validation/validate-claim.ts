import { type Fields, listAt, scalarText, stringAt, valueAt } from '../json-access.ts';
import type { FieldErrors } from './field-errors.ts';
import { dnsSubdomain } from './name-rules.ts';
import { validatePositiveQuantity } from './validate-container.ts';
import { validateSelector } from './validate-meta.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Checks the spec of a PersistentVolumeClaim, with its defaults filled in. */
export function validateClaimSpec(spec: Fields, path: string, errors: FieldErrors): void {
  const modes = listAt(spec, 'accessModes').map(String);
  if (modes.length === 0) errors.required(`${path}.accessModes`, 'at least 1 access mode is required');
  validateSelector(spec['selector'], `${path}.selector`, errors);
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(mode)) errors.notSupported(`${path}.accessModes`, mode, ACCESS_MODES);
  }
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod'))
    errors.forbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes');
  const storage = valueAt(spec, 'resources', 'requests', 'storage');
  const storagePath = `${path}.resources[storage]`;
  if (storage === undefined) errors.required(storagePath);
  else validatePositiveQuantity(scalarText(storage), storagePath, errors);
  const className = stringAt(spec, 'storageClassName');
  if (className !== '') errors.invalidEach(`${path}.storageClassName`, className, dnsSubdomain(className));
  const volumeMode = spec['volumeMode'];
  if (volumeMode !== undefined && !VOLUME_MODES.includes(scalarText(volumeMode)))
    errors.notSupported(`${path}.volumeMode`, volumeMode, VOLUME_MODES);
}
