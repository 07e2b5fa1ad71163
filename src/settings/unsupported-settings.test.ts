import { expect, test } from 'vitest';
import { readSettings } from './read-settings.ts';
import { refuseUnsupported } from './unsupported-settings.ts';

const settings = (env: Record<string, string>) =>
  readSettings({ env: { ADDON_OPERATOR_NAMESPACE: 'n', ...env }, flags: {} });

test('refuseUnsupported() lets the defaults pass', () => {
  expect(() => refuseUnsupported(settings({}))).not.toThrow();
});

test('refuseUnsupported() names a setting that would have no effect', () => {
  const chosen = settings({ ADDON_OPERATOR_SHELL_CHROOT_DIR: '/jail' });
  expect(() => refuseUnsupported(chosen)).toThrow('ADDON_OPERATOR_SHELL_CHROOT_DIR');
});
