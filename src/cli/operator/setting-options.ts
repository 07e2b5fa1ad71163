import { type Command, Option } from 'commander';
import type { Setting } from '../../settings/setting.ts';
import { booleanType } from '../../settings/setting-type.ts';
import { SETTINGS } from '../../settings.ts';

const ROWS: readonly Setting<unknown>[] = Object.values(SETTINGS);
const BOOLEAN_FLAGS: ReadonlySet<string> = new Set(
  ROWS.filter(({ type }) => type === booleanType).map(({ flag }) => `--${flag}`),
);

/** How the help of a command differs from that of `start`. */
export interface HelpDifferences {
  /** Other defaults, by flag name; a flag with one is never left out. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Names of flags to be left out. */
  readonly hidden: readonly string[];
}

/** Gives a command every flag of the daemon. */
export function addSettingOptions(
  command: Command,
  { defaults, hidden }: HelpDifferences = { defaults: {}, hidden: [] },
): void {
  for (const row of ROWS) {
    const { flag } = row;
    if (flag === undefined) continue;
    const other = defaults[flag];
    const option = optionFor(other === undefined ? row : { ...row, default: other });
    const isHidden = other === undefined && (row.isHidden ?? false);
    command.addOption(option.hideHelp(isHidden || hidden.includes(flag)));
  }
}

/** Gives a command the one flag of a setting, shown in its help although `start` hides it. */
export function addSettingOption(command: Command, setting: Setting<unknown>): void {
  command.addOption(optionFor(setting));
}

/** The values of the flags that were given to a command or before it, by flag name. */
export function givenFlags(command: Command): Record<string, string> {
  const values: Readonly<Record<string, unknown>> = command.optsWithGlobals();
  const flags: Record<string, string> = {};
  for (const row of ROWS) {
    if (row.flag === undefined) continue;
    const value = values[optionFor(row).attributeName()];
    if (typeof value === 'string') flags[row.flag] = value;
  }
  return flags;
}

/** A flag without a value is true, and the next word is never taken for its value. */
export function withBooleanValues(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => (BOOLEAN_FLAGS.has(arg) && (end < 0 || index < end) ? `${arg}=true` : arg));
}

/** Help on a flag: what it does, the variables, the default. */
export function settingHelp({ help, env, default: initial }: Setting<unknown>): string {
  return `${help} (${env.join(', ')}${initial === '' ? '' : `; default ${initial}`})`;
}

function optionFor(row: Setting<unknown>): Option {
  const { placeholder } = row.type;
  const value = row.type === booleanType ? `[${placeholder}]` : `<${placeholder}>`;
  return new Option(`--${row.flag} ${value}`, settingHelp(row));
}
