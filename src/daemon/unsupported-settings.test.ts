import { expect, test } from 'vitest';
import { readSettings } from '../settings/read-settings.ts';
import { refuseUnsupported } from './unsupported-settings.ts';

const settings = (env: Record<string, string>) =>
  readSettings({ env: { ADDON_OPERATOR_NAMESPACE: 'n', ...env }, flags: {} });

test('refuseUnsupported() lets the defaults pass', () => {
  expect(() => refuseUnsupported(settings({}))).not.toThrow();
});

test('refuseUnsupported() names every setting that would have no effect', () => {
  const chosen = settings({
    ADDON_OPERATOR_SHELL_CHROOT_DIR: '/jail',
    ADDON_OPERATOR_ADMISSION_SERVER_ENABLED: 'true',
  });
  expect(() => refuseUnsupported(chosen)).toThrow(
    /ADDON_OPERATOR_SHELL_CHROOT_DIR.*\n.*ADDON_OPERATOR_ADMISSION_SERVER_ENABLED/,
  );
});
