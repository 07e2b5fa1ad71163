import type { Settings } from '../settings.ts';
import { type DaemonHost, definedVariables } from './host.ts';

/** The variables of the daemon that hooks and enabled scripts get; with an allow-list its secrets stay with it. */
export function hookEnvironment(
  env: DaemonHost['env'],
  { hookEnv, hookEnvAllowed, authPolicy }: Pick<Settings, 'hookEnv' | 'hookEnvAllowed' | 'authPolicy'>,
): Readonly<Record<string, string>> {
  const given = definedVariables(env);
  if (authPolicy === 'none') return allowed(given, hookEnv, hookEnvAllowed);
  return { ...NO_CACHES, ...allowed(given, hookEnv, hookEnvAllowed) };
}

/** Python would write beside the hook, into the copy that was checked. */
const NO_CACHES = { PYTHONDONTWRITEBYTECODE: '1' };

function allowed(
  all: Readonly<Record<string, string>>,
  hookEnv: Settings['hookEnv'],
  hookEnvAllowed: Settings['hookEnvAllowed'],
): Readonly<Record<string, string>> {
  if (hookEnv === 'all') return all;
  const isAllowed = (name: string): boolean =>
    hookEnvAllowed.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
  return Object.fromEntries(Object.entries(all).filter(([name]) => isAllowed(name)));
}
