import { type Command, Option } from 'commander';
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
  spec: { readonly name: string; readonly summary?: string; readonly description: string },
  toCall: (args: readonly string[], options: Readonly<Record<string, unknown>>) => DebugCall,
  { host, runner }: CommandParts,
): Command {
  const command = parent.command(spec.name).description(spec.description);
  if (spec.summary !== undefined) command.summary(spec.summary);
  addSettingOption(command, SETTINGS.debugUnixSocket);
  return command.action(() =>
    runner(async () => {
      const { printAnswer } = await import('./print-answer.ts');
      return await printAnswer(await socketPathOf(command, host), toCall(command.args, command.opts()), host);
    }),
  );
}

/** Path of the debug socket of the operator that a command is about. */
export async function socketPathOf(command: Command, host: CliHost): Promise<string> {
  const { findDebugSocket } = await import('./find-socket.ts');
  return await findDebugSocket(givenFlags(command), host);
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
