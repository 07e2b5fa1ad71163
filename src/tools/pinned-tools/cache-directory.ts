import { join } from 'node:path';

/**
 * Where downloaded and built tools are kept: `ADDON_OPERATOR_CACHE_DIR`, else `addon-operator` under
 * `XDG_CACHE_HOME`, else under `.cache` of the home directory. An empty variable counts as unset.
 */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>, homeDir: string): string {
  const chosen = env['ADDON_OPERATOR_CACHE_DIR'];
  if (chosen !== undefined && chosen !== '') return chosen;
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homeDir, '.cache') : base, 'addon-operator');
}
