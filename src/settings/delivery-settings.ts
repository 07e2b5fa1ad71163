/** Settings of modules that come from a registry. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { countType, integerType, textType, wordType } from './setting-type.ts';

/** Where modules of ModuleSources come from, how they are kept, and how many are updated at once. */
export const DELIVERY_SETTINGS = {
  moduleSourcesFile: setting(
    'module-sources',
    'ADDON_OPERATOR_MODULE_SOURCES',
    textType,
    '',
    'File with documents of ModuleSource and ModuleInstall, instead of objects in the cluster. It is read again when it changes.',
  ),
  moduleBackup: setting(
    'module-backup',
    'ADDON_OPERATOR_MODULE_BACKUP',
    wordType(['secrets', 'none']),
    'secrets',
    'Where modules of up to 900 KiB are kept besides the store, so that they start while the registry is away: secrets, none.',
  ),
  updateParallel: setting(
    'update-parallel',
    'ADDON_OPERATOR_UPDATE_PARALLEL',
    integerType(1, 1_000),
    '4',
    'How many modules may be updated at the same time, from the switch to the last gate. First installations are not counted.',
  ),
  updateFailures: setting(
    'update-failures',
    'ADDON_OPERATOR_UPDATE_FAILURES',
    countType,
    '3',
    'From so many modules with a failed update on no other module is updated. 0: no limit.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type DeliverySettings = SettingsOf<typeof DELIVERY_SETTINGS>;
