/**
 * One entry of a table of settings, and the functions that create entries. An entry is data: `setting-type.ts` parses
 * its value, `read-settings.ts` decides which source wins, the command line and the pages read the rest. `SettingsOf`
 * derives the type of the values from a table, so that a setting is declared in one place only.
 */

import type { SettingType } from './setting-type.ts';

/** One flag of `start` with its environment variables, or a variable that has no flag. */
export interface Setting<T> {
  /** Name of the flag without dashes. */
  readonly flag?: string;
  /** Environment variables, the strongest first. */
  readonly env: readonly string[];
  readonly type: SettingType<T>;
  /** The value when nothing is set, as the user would write it. */
  readonly default: string;
  readonly help: string;
  /** Left out of `help flags`, listed by `debug-options`. */
  readonly isHidden?: boolean;
  /** Holds a credential of the daemon, or names its file: its variables are kept from hooks. */
  readonly isSecret?: boolean;
}

/** The values of a table of settings, by name. */
export type SettingsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

/** A flag with its variables, the strongest first. */
export function setting<T>(
  flag: string,
  env: string | readonly string[],
  type: SettingType<T>,
  defaultText: string,
  help: string,
): Setting<T> {
  return { flag, env: typeof env === 'string' ? [env] : env, type, default: defaultText, help };
}

/** A flag that only `debug-options` lists. */
export function hidden<T>(
  flag: string,
  env: string | readonly string[],
  type: SettingType<T>,
  initial: string,
  help: string,
): Setting<T> {
  return { ...setting(flag, env, type, initial, help), isHidden: true };
}

/** A variable that has no flag. */
export function variable<T>(
  env: string,
  type: SettingType<T>,
  defaultText: string,
  help: string,
): Setting<T> {
  return { env: [env], type, default: defaultText, help };
}

/** A setting whose variables hooks do not get. */
export function secret<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, isSecret: true };
}

/** `ADDON_OPERATOR_<name>` beats the plain or older name; by default the plain one. */
export function ownAnd(name: string, older: string = name): readonly string[] {
  return [`ADDON_OPERATOR_${name}`, older];
}
