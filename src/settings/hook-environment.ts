/**
 * Builds the environment of hooks and enabled scripts from that of the daemon. Credentials of the daemon are removed in
 * every mode: a hook is a program of a module, and may print its environment.
 */

import { SECRET_VARIABLES } from '../settings.ts';
import type { AuthorizationSettings } from './authorization-settings.ts';
import type { HookRunSettings } from './hook-settings.ts';

/** Exporters of telemetry take tokens from such variables, with or without the name of a signal. */
const TELEMETRY_HEADERS = /^OTEL_EXPORTER_(?:\w+_)?HEADERS$/;

/** Variables of a process; unset ones may be there as undefined. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the daemon that hooks and enabled scripts get. Credentials of the daemon itself are never among them,
 * not even if an allow-list names them.
 */
export function hookEnvironment(
  env: Environment,
  {
    hookEnv,
    hookEnvAllowed,
    authPolicy,
  }: Pick<HookRunSettings, 'hookEnv' | 'hookEnvAllowed'> & Pick<AuthorizationSettings, 'authPolicy'>,
): Readonly<Record<string, string>> {
  const given = withoutCredentials(definedVariables(env));
  if (authPolicy === 'none') return allowed(given, hookEnv, hookEnvAllowed);
  return { ...NO_CACHES, ...allowed(given, hookEnv, hookEnvAllowed) };
}

/** The environment without its unset variables, as processes get it. */
function definedVariables(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Python would write beside the hook, into the copy that was checked. */
const NO_CACHES = { PYTHONDONTWRITEBYTECODE: '1' };

function withoutCredentials(all: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isCredential = (name: string): boolean =>
    SECRET_VARIABLES.includes(name) || TELEMETRY_HEADERS.test(name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isCredential(name)));
}

function allowed(
  all: Readonly<Record<string, string>>,
  hookEnv: HookRunSettings['hookEnv'],
  hookEnvAllowed: HookRunSettings['hookEnvAllowed'],
): Readonly<Record<string, string>> {
  if (hookEnv === 'all') return all;
  const isAllowed = (name: string): boolean =>
    hookEnvAllowed.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
  return Object.fromEntries(Object.entries(all).filter(([name]) => isAllowed(name)));
}
