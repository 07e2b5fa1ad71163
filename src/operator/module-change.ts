import { entryOf, filesOf, type Module } from '../modules/module.ts';

/**
 * The consequence of reading a module again. `none`: it stays as it was loaded. `start`: it is new.
 * `refresh`: it is taken over while it runs. `switch`: another version takes its place. `refuse`:
 * another version cannot be loaded, and the old one continues. `hold`: it stops, and its objects
 * stay. `return`: it was held, and runs again. `delete`: a user removed it from the module store.
 * `end`: it is no module any more.
 */
export type ModuleChange =
  | 'none'
  | 'start'
  | 'refresh'
  | 'switch'
  | 'refuse'
  | 'hold'
  | 'return'
  | 'delete'
  | 'end';

/**
 * Decides what follows from reading a module again.
 *
 * @param old undefined for a module that was not known
 * @param next undefined for a module that is gone
 * @param isEdited whether files that were edited in place are taken over, as in development
 */
export function moduleChange(
  old: Module | undefined,
  next: Module | undefined,
  { isEdited }: { readonly isEdited: boolean },
): ModuleChange {
  if (next === undefined) return old === undefined ? 'none' : 'end';
  if (next.isRemoved) return old?.isRemoved ? 'none' : 'delete';
  if (old === undefined) return 'start';
  const isOther = filesOf(old) !== filesOf(next);
  const wasRunnable = old.refusal === undefined && !old.isRemoved;
  if (next.refusal !== undefined) {
    // Lost files hold a module in any case: the old version is most likely gone as well.
    if (wasRunnable && isOther && next.refusal.type !== 'gone') return 'refuse';
    return next.refusal.reason === old.refusal?.reason ? 'refresh' : 'hold';
  }
  if (!wasRunnable) return 'return';
  if (isOther) return 'switch';
  return isEdited || entryOf(old) !== entryOf(next) ? 'refresh' : 'none';
}
