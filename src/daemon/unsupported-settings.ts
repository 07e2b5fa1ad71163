import { OperatorError } from '../lib/errors.ts';
import type { Settings } from '../settings.ts';

/**
 * Refuses settings of the contract that this version does not carry out yet: ignoring them would be worse than stopping.
 *
 * @throws OperatorError CONFIG_INVALID naming each of them, and what to do
 */
export function refuseUnsupported(settings: Settings): void {
  const problems: string[] = [];
  if (settings.shellChrootDir !== '')
    problems.push('--shell-chroot-dir (ADDON_OPERATOR_SHELL_CHROOT_DIR): not supported yet; unset it');
  if (settings.isAdmissionServerEnabled)
    problems.push(
      '--admission-server-enabled (ADDON_OPERATOR_ADMISSION_SERVER_ENABLED): it would serve nothing; unset it',
    );
  if (problems.length > 0) throw new OperatorError('CONFIG_INVALID', problems.join('\n'));
}
