/** Settings of directories and files: modules, global hooks, temporary files. Relative paths start at the working directory. */

import { ownAnd, type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, durationType, integerType, listType, textType } from './setting-type.ts';

/** Directories of modules and hooks, and how they are read. */
export const DIRECTORY_SETTINGS = {
  modulesDirs: setting(
    'modules-dir',
    ownAnd('MODULES_DIR'),
    listType(':', 'paths'),
    'modules',
    'Directories with modules, separated by colons.',
  ),
  moduleStore: setting(
    'module-store',
    'ADDON_OPERATOR_MODULE_STORE',
    textType,
    '',
    'Directory of the module store. Its modules come after those of the modules directories.',
  ),
  modulesRescanMs: setting(
    'modules-rescan-interval',
    'ADDON_OPERATOR_MODULES_RESCAN_INTERVAL',
    durationType,
    '2s',
    'How often switched links and new modules are looked for in the modules directories; 0 disables it.',
  ),
  allowsLinksOutside: setting(
    'allow-links-outside',
    'ADDON_OPERATOR_ALLOW_LINKS_OUTSIDE',
    booleanType,
    'false',
    'Accept symbolic links in modules to targets outside of their module.',
  ),
  // A directory `hooks` below it is used instead, if there is one.
  globalHooksDir: setting(
    'global-hooks-dir',
    ['ADDON_OPERATOR_GLOBAL_HOOKS_DIR', 'GLOBAL_HOOKS_DIR', 'SHELL_OPERATOR_HOOKS_DIR'],
    textType,
    'global-hooks',
    'Directory with global hooks.',
  ),
  unnumberedModulesOrder: setting(
    'unnumbered-modules-order',
    ownAnd('UNNUMBERED_MODULES_ORDER'),
    integerType(0, 2 ** 31 - 1),
    '1',
    'Order number of modules whose directory name has none.',
  ),
  requiresValuesFiles: setting(
    'strict-check-values-mode-enabled',
    ownAnd('STRICT_CHECK_VALUES_MODE_ENABLED'),
    booleanType,
    'false',
    'Fail the start if a values.yaml is missing.',
  ),
  // One level is created. Other users must not be able to write to it.
  tmpDir: setting(
    'tmp-dir',
    ownAnd('TMP_DIR', 'SHELL_OPERATOR_TMP_DIR'),
    textType,
    '/tmp/addon-operator',
    'Directory for temporary files; created if missing.',
  ),
  journalDir: setting(
    'journal-dir',
    'ADDON_OPERATOR_JOURNAL_DIR',
    textType,
    '',
    'Directory in which the last runs are kept over a restart, at most 10 MiB; empty means journal below --tmp-dir, off keeps them in memory only.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type DirectorySettings = SettingsOf<typeof DIRECTORY_SETTINGS>;
