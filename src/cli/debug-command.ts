import { type Command, Option } from 'commander';
import { readSetting } from '../settings/read-settings.ts';
import { SETTINGS } from '../settings.ts';
import type { CliHost } from './cli-host.ts';
import type { DebugCall } from './debug-call.ts';
import { addSettingOption, givenFlags } from './setting-options.ts';

/** Runs one command and returns the exit code. */
export type CommandRunner = (run: () => Promise<number>) => Promise<void>;

/** What a command needs to run. */
export interface CommandParts {
  readonly host: CliHost;
  readonly runner: CommandRunner;
}

/** Adds a command that prints one response of the debug endpoint. */
export function addDebugCommand(
  parent: Command,
  spec: { readonly name: string; readonly description: string },
  toCall: (args: readonly string[], options: Readonly<Record<string, unknown>>) => DebugCall,
  { host, runner }: CommandParts,
): Command {
  const command = parent.command(spec.name).description(spec.description);
  addSettingOption(command, SETTINGS.debugUnixSocket);
  return command.action(() =>
    runner(async () => {
      const { printAnswer } = await import('./print-answer.ts');
      return await printAnswer(socketPathOf(command, host), toCall(command.args, command.opts()), host);
    }),
  );
}

/** Path of the debug socket, by flag, variable or default. */
export function socketPathOf(command: Command, host: CliHost): string {
  return readSetting('debugUnixSocket', { env: host.env, flags: givenFlags(command) });
}

/** The option `-o`. */
export function outputOption(initial: 'text' | 'yaml'): Option {
  return new Option('-o, --output <format>', 'format of the output')
    .choices(['text', 'json', 'yaml'])
    .default(initial);
}

/** The option `-o` of commands that need no daemon. */
export function textOrJsonOption(): Option {
  return new Option('-o, --output <format>', 'format of the output')
    .choices(['text', 'json'])
    .default('text');
}

/** What was chosen by {@link textOrJsonOption}. */
export function textOrJson(command: Command): 'text' | 'json' {
  return command.opts()['output'] === 'json' ? 'json' : 'text';
}

/** What was chosen by {@link outputOption}. */
export function formatOf(options: Readonly<Record<string, unknown>>): string {
  return String(options['output']);
}
