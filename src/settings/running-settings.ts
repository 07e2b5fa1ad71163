/**
 * The settings of a running operator for CLI commands, through the debug socket. So `plan` and `rbac` use the same
 * directories and cluster as the daemon without repeating its flags.
 */

import { resolve } from 'node:path';
import { SETTINGS, type SettingName, type Settings } from '../settings.ts';
import type { Setting } from './setting.ts';

/** Settings that name files or directories. */
const PATHS: ReadonlySet<string> = new Set<SettingName>([
  'modulesDirs',
  'moduleStore',
  'globalHooksDir',
  'kubeConfig',
  'helmBinPath',
  'authLockFile',
  'authKeyring',
  'authStagingDir',
  'customizationsDir',
  'flowHooksDir',
]);

/**
 * The settings of a running operator for commands that look at what it works on: plain data by name, with absolute paths
 * and without credentials.
 *
 * @param cwd working directory of the operator
 */
export function runningSettings(settings: Settings, cwd: string): Readonly<Record<string, unknown>> {
  const absolute = (path: string): string => (path === '' ? '' : resolve(cwd, path));
  const valueOf = (name: string, value: unknown): unknown => {
    if (!PATHS.has(name)) return value;
    return Array.isArray(value) ? value.map((path: string) => absolute(path)) : absolute(String(value));
  };
  const rows: Readonly<Record<string, Setting<unknown>>> = SETTINGS;
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      rows[name]?.isSecret === true ? [] : [[name, valueOf(name, value)]],
    ),
  );
}
