import { OperatorError } from '@addon-operator/base/errors';
import type { Settings } from '../settings.ts';

/**
 * Refuses settings of the contract that this version does not carry out yet: ignoring them would be worse than stopping.
 *
 * @throws OperatorError CONFIG_INVALID naming it, and what to do
 */
export function refuseUnsupported(settings: Pick<Settings, 'shellChrootDir'>): void {
  if (settings.shellChrootDir === '') return;
  throw new OperatorError(
    'CONFIG_INVALID',
    '--shell-chroot-dir (ADDON_OPERATOR_SHELL_CHROOT_DIR): not supported yet; unset it',
  );
}
