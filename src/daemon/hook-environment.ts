import type { Settings } from '../settings.ts';
import { type DaemonHost, definedVariables } from './host.ts';

/** The variables of the daemon that hooks and enabled scripts get; with an allow-list its secrets stay with it. */
export function hookEnvironment(
  env: DaemonHost['env'],
  { hookEnv, hookEnvAllowed }: Pick<Settings, 'hookEnv' | 'hookEnvAllowed'>,
): Readonly<Record<string, string>> {
  const all = definedVariables(env);
  if (hookEnv === 'all') return all;
  const isAllowed = (name: string): boolean =>
    hookEnvAllowed.some((allowed) =>
      allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed,
    );
  return Object.fromEntries(Object.entries(all).filter(([name]) => isAllowed(name)));
}
