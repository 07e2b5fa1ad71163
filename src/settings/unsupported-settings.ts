/** Settings of the original that are refused, because ignoring them would change what the operator does. */

import { OperatorError } from '@addon-operator/base/errors';
import { type Setting, type SettingsOf, setting } from './setting.ts';
import { textType } from './setting-type.ts';

/** Settings of the contract that must keep their default. */
export const UNSUPPORTED_SETTINGS = {
  shellChrootDir: setting(
    'shell-chroot-dir',
    'ADDON_OPERATOR_SHELL_CHROOT_DIR',
    textType,
    '',
    'Root directory for module scripts. Not supported: the start fails if it is set.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

/**
 * Refuses settings of the contract that this version does not carry out yet: ignoring them would be worse than stopping.
 *
 * @throws OperatorError CONFIG_INVALID naming it, and what to do
 */
export function refuseUnsupported(settings: SettingsOf<typeof UNSUPPORTED_SETTINGS>): void {
  if (settings.shellChrootDir === '') return;
  throw new OperatorError(
    'CONFIG_INVALID',
    '--shell-chroot-dir (ADDON_OPERATOR_SHELL_CHROOT_DIR): not supported yet; unset it',
  );
}
