import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { isRefused } from '../model/pending-updates.ts';
import type { ModuleExplanation } from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Explained } from './explained.ts';

/** The version of a module that does not run yet; empty without any. */
export function updateOf(
  { updates }: Pick<Explained, 'updates'>,
  name: ModuleName,
): Pick<ModuleExplanation, 'update'> {
  const update = updates.of(name);
  if (update === undefined) return {};
  const { version = null, digest = null, reason, message, sinceMs } = update;
  const since = isoTime(sinceMs);
  return { update: { version, digest, reason, message, since, isRefused: isRefused(update) } };
}
