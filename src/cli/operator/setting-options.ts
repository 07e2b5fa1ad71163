import { type Command, Option } from 'commander';
import type { Setting } from '../../settings/setting.ts';
import { booleanType } from '../../settings/setting-type.ts';
import { SETTINGS } from '../../settings.ts';

const ROWS: readonly Setting<unknown>[] = Object.values(SETTINGS);
const BOOLEAN_FLAGS: ReadonlySet<string> = new Set(
  ROWS.filter(({ type }) => type === booleanType).map(({ flag }) => `--${flag}`),
);

/** The flags that most users need, by the heading that they have in the help. */
const MAIN_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'Modules and hooks:',
    ['modules-dir', 'module-store', 'module-sources', 'global-hooks-dir', 'watch-files', 'hook-timeout'],
  ],
  ['Cluster:', ['namespace', 'config-map', 'kube-config', 'kube-context']],
  ['Failures:', ['module-failure-policy', 'parallel-modules', 'helm-timeout', 'drift-mode']],
  [
    'Page, metrics and log:',
    ['ui', 'ui-port', 'ui-actions', 'prometheus-listen-port', 'log-level', 'log-type', 'exit-after-converge'],
  ],
]);
const HEADINGS = new Map([...MAIN_FLAGS].flatMap(([heading, flags]) => flags.map((flag) => [flag, heading])));

/** Main flags without an effect on commands that only look at directories and a cluster. */
export const RUNNING_FLAGS: readonly string[] = [
  ...(MAIN_FLAGS.get('Failures:') ?? []),
  ...(MAIN_FLAGS.get('Page, metrics and log:') ?? []),
  'watch-files',
  'hook-timeout',
];

const OTHER_FLAGS = '\nOther flags of start are accepted too: addon-operator help flags';
const FURTHER = new WeakSet<Option>();

/** How the help of a command differs from that of `start`. */
export interface HelpDifferences {
  /** Other defaults, by flag name. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Names of flags to be left out. */
  readonly hidden: readonly string[];
}

/** Gives a command every flag of the daemon. Its help shows the main ones. */
export function addSettingOptions(
  command: Command,
  { defaults = {}, hidden }: HelpDifferences = { hidden: [] },
): void {
  for (const row of ROWS) {
    const { flag } = row;
    if (flag === undefined) continue;
    const other = defaults[flag];
    const option = optionFor(other === undefined ? row : { ...row, default: other });
    const heading = HEADINGS.get(flag);
    option.hideHelp(heading === undefined || hidden.includes(flag));
    option.helpGroup(heading ?? 'Other flags:');
    if (row.isHidden !== true && !hidden.includes(flag)) FURTHER.add(option);
    command.addOption(option);
  }
  command.addHelpText('after', OTHER_FLAGS);
}

/** Whether a flag of the daemon has an effect on its command, also if the help of that leaves it out. */
export function isAccepted(option: Option): boolean {
  return FURTHER.has(option);
}

/** The help of a command with all flags of the daemon. */
export function helpWithAllFlags(command: Command): string {
  for (const option of command.options.filter(isAccepted)) option.hideHelp(false);
  return command.helpInformation();
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
