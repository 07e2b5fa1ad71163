/**
 * Settings of module authorization (`authorization/`). They are read at the start only; the files that they name (keyring,
 * lock file) are read again for each check.
 */

import { ownAnd, type Setting, type SettingsOf, setting } from './setting.ts';
import { textType, wordType } from './setting-type.ts';

const AUTH_POLICIES = ['none', 'digest', 'keyring'] as const;

/** Settings of what decides which modules may run. */
export const AUTHORIZATION_SETTINGS = {
  authPolicy: setting(
    'auth-policy',
    ownAnd('AUTH_POLICY'),
    wordType(AUTH_POLICIES),
    'none',
    'Policy for running modules: none (all modules run), digest (modules in the lock file), keyring (modules signed with a trusted key).',
  ),
  authLockFile: setting(
    'auth-lock-file',
    ownAnd('AUTH_LOCK_FILE'),
    textType,
    '',
    'Lock file with the digests of modules, for --auth-policy digest.',
  ),
  authKeyring: setting(
    'auth-keyring',
    ownAnd('AUTH_KEYRING'),
    textType,
    '',
    'File or directory with the public keys that are trusted, for --auth-policy keyring.',
  ),
  // Must be private and outside of the modules directories, see `authorization/staging-directory.ts`.
  authStagingDir: setting(
    'auth-staging-dir',
    ownAnd('AUTH_STAGING_DIR'),
    textType,
    '',
    'Directory for the verified copies of modules that are run; empty means modules below --tmp-dir.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type AuthorizationSettings = SettingsOf<typeof AUTHORIZATION_SETTINGS>;

/** Missing settings of a policy, one sentence each. */
export function authorizationProblems(settings: AuthorizationSettings): string[] {
  switch (settings.authPolicy) {
    case 'none':
      return [];
    case 'digest':
      return settings.authLockFile === ''
        ? ['--auth-policy digest needs --auth-lock-file (AUTH_LOCK_FILE)']
        : [];
    case 'keyring':
      return settings.authKeyring === '' ? ['--auth-policy keyring needs --auth-keyring (AUTH_KEYRING)'] : [];
  }
}
