/**
 * From the command line and the environment to values. A command calls it once, before anything starts. Each setting
 * is read by itself: the flag wins, then the first variable that is not empty, then the value of a running operator
 * where a command looks at one, then the default. Then rules between settings are checked. All mistakes are collected
 * into one error, so that a user can correct them at once.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { REFUSED_VARIABLES, SETTINGS, type SettingName, type Settings } from '../settings.ts';
import { authorizationProblems } from './authorization-settings.ts';
import { debugProblems } from './debug-settings.ts';
import { leaseTimeProblems } from './lease-settings.ts';
import type { Setting } from './setting.ts';
import { uiProblems } from './ui-settings.ts';

/** Where settings come from. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values given on the command line, by flag name without dashes. */
  readonly flags: Readonly<Record<string, string>>;
  /** Values by name of the setting, for what neither a flag nor a variable gives. */
  readonly running?: Readonly<Record<string, unknown>>;
}

/**
 * All settings of the daemon: a flag beats its variables, the first set and non-empty variable beats the default.
 *
 * @throws OperatorError CONFIG_INVALID with every mistake in one message, one a line
 */
export function readSettings(sources: SettingSources): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS)) {
    try {
      values[name] = readOne(name, setting, sources);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  const settings = values as Settings;
  // Rules between settings need every single value to be valid.
  if (problems.length === 0) problems.push(...problemsBetween(settings, sources));
  for (const variable of REFUSED_VARIABLES) {
    if ((sources.env[variable] ?? '') !== '')
      problems.push(`variable ${variable} is set, but helm 2 is not supported: unset it`);
  }
  if (problems.length > 0) throw new OperatorError('CONFIG_INVALID', problems.join('\n'));
  return Object.freeze(settings);
}

/**
 * The value of one setting, for commands that need no other.
 *
 * @throws OperatorError CONFIG_INVALID naming flag, variable, value and what is accepted
 */
export function readSetting<Name extends SettingName>(name: Name, sources: SettingSources): Settings[Name] {
  return readOne(name, SETTINGS[name], sources) as Settings[Name];
}

function readOne(name: string, setting: Setting<unknown>, { env, flags, running }: SettingSources): unknown {
  const fromFlag = setting.flag === undefined ? undefined : flags[setting.flag];
  // An empty variable counts as not set, as in the charts that set it from an optional value.
  const variable = setting.env.find((name) => (env[name] ?? '') !== '');
  const fromEnv = variable === undefined ? undefined : env[variable];
  const input = fromFlag ?? fromEnv;
  if (input === undefined && running !== undefined && Object.hasOwn(running, name)) {
    const initial = setting.type.parse(setting.default);
    // An operator of another version may have a setting of this name with other values.
    if (isOfSameType(running[name], initial)) return running[name];
  }
  const value = setting.type.parse(input ?? setting.default);
  if (value !== undefined) return value;
  const where = fromFlag === undefined ? `variable ${variable}` : `flag --${setting.flag}`;
  const other =
    fromFlag !== undefined
      ? `variable ${setting.env[0]}`
      : setting.flag === undefined
        ? ''
        : `flag --${setting.flag}`;
  throw new OperatorError(
    'CONFIG_INVALID',
    `${where}${other === '' ? '' : ` (${other})`}: value "${input}" is invalid; accepted: ${setting.type.accepted}`,
  );
}

/** Compares only the kind of value: string, number, boolean or list. */
function isOfSameType(one: unknown, other: unknown): boolean {
  return typeof one === typeof other && Array.isArray(one) === Array.isArray(other);
}

function problemsBetween(settings: Settings, { env, flags, running = {} }: SettingSources): string[] {
  const problems: string[] = [];
  if (settings.namespace === '' && settings.isHaEnabled) {
    problems.push(
      'ADDON_OPERATOR_NAMESPACE env not set or empty: ADDON_OPERATOR_HA needs it for the lease; or set --namespace',
    );
  } else if (settings.namespace === '') {
    problems.push(
      'flag --namespace (variable ADDON_OPERATOR_NAMESPACE) is required: the namespace of the ConfigMap and the releases',
    );
  }
  if (settings.isHaEnabled) {
    if (settings.podName === '')
      problems.push('ADDON_OPERATOR_POD env not set or empty: ADDON_OPERATOR_HA needs it');
    const { env: names, flag } = SETTINGS.listenAddress;
    const isGiven = flags[flag ?? ''] !== undefined || names.some((name) => (env[name] ?? '') !== '');
    if (!isGiven && !Object.hasOwn(running, 'listenAddress'))
      problems.push(
        'ADDON_OPERATOR_LISTEN_ADDRESS env not set or empty: ADDON_OPERATOR_HA needs the IP of the pod',
      );
    problems.push(...leaseTimeProblems(settings));
  }
  problems.push(...authorizationProblems(settings), ...debugProblems(settings), ...uiProblems(settings));
  return problems;
}
