import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { ModuleStore } from '../module-store/module-store.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';

/**
 * Opens the module store, removes what killed processes have left there, and checks its content.
 * Undefined if the settings name none. An inspection changes nothing.
 *
 * @throws OperatorError STORE_FAILED
 */
export async function openStore(
  { moduleStore }: Pick<DirectorySettings, 'moduleStore'>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  isInspection: boolean,
): Promise<ModuleStore | undefined> {
  if (moduleStore === '') return undefined;
  const store = new ModuleStore({ directory: moduleStore, clock });
  if (isInspection) return store;
  const damaged = await store.recover();
  if (damaged.length > 0)
    log.warn(
      { store: moduleStore, contents: damaged, fix: 'add them again' },
      'contents of the module store are not as they were added: they are not used',
    );
  return store;
}
