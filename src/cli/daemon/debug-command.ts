import { type Json, parseJson } from '@addon-operator/json';
import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import { chosenFormat, type DefaultFormat, outputOption } from '../output/output-format.ts';
import type { ResponseView } from '../output/print-response.ts';
import type { ToTable } from '../output/tables.ts';
import type { Now } from '../output/time-cells.ts';
import type { DebugCall } from './debug-call.ts';

/** Runs one command and returns the exit code. */
export type CommandRunner = (run: () => Promise<number>) => Promise<void>;

/** Host and runner of a command. */
export interface CommandParts {
  readonly host: CliHost;
  readonly runner: CommandRunner;
}

/**
 * The request of a command line. `options` holds the format that is wanted as `output`, and `isTable` if a table or names
 * are made of the response.
 */
export type ToCall = (args: readonly string[], options: Readonly<Record<string, unknown>>) => DebugCall;

export interface DebugCommandSpec {
  readonly name: string;
  /** Another name, which users try. */
  readonly alias?: string;
  /** Its parent takes the arguments without the name. */
  readonly isDefault?: true;
  readonly summary?: string;
  readonly description: string;
  /** Absent for a command without `-o`. */
  readonly output?: OutputSpec;
}

/** The output of a command, and its formats for `-o`. */
export interface OutputSpec extends DefaultFormat {
  /** The operator's text is a table already, so that only names are taken from `table`. */
  readonly hasTextTable?: boolean;
  /** The operator returns JSON only: other formats are made of it. */
  readonly hasOnlyJson?: true;
  /** Loads what makes a table of the JSON of the command. */
  readonly table: (options: Readonly<Record<string, unknown>>, args: readonly string[]) => Promise<ToTable>;
}

/** The output of commands that print a document. */
export const DOCUMENT: OutputSpec = {
  initial: 'yaml',
  table: async () => (await import('../output/tables.ts')).documentTable,
};

/** Adds a command that prints one response of the debug endpoint. */
export function addDebugCommand(
  parent: Command,
  spec: DebugCommandSpec,
  toCall: ToCall,
  { host, runner }: CommandParts,
): Command {
  const command = parent
    .command(spec.name, { isDefault: spec.isDefault === true })
    .description(spec.description);
  if (spec.alias !== undefined) command.alias(spec.alias);
  if (spec.summary !== undefined) command.summary(spec.summary);
  if (spec.output !== undefined) command.addOption(outputOption(spec.output));
  addSettingOption(command, SETTINGS.debugUnixSocket);
  return command.action(() =>
    runner(async () => {
      const socketPath = await socketPathOf(command, host);
      const options: Readonly<Record<string, unknown>> = command.opts();
      const { call, ...view } = await requested(command, spec.output, toCall, host);
      if (options['watch'] === true) {
        const { watchResponse } = await import('../output/watch-response.ts');
        return await watchResponse(socketPath, call.path, String(options['watchInterval']), host, view);
      }
      const { printResponse } = await import('../output/print-response.ts');
      return await printResponse(socketPath, call, host, view);
    }),
  );
}

/** The request of a command, and how its response is shown if not as it is. */
async function requested(
  command: Command,
  output: OutputSpec | undefined,
  toCall: ToCall,
  host: CliHost,
): Promise<ResponseView & { readonly call: DebugCall }> {
  const options: Readonly<Record<string, unknown>> = command.opts();
  if (output === undefined) return { call: toCall(command.args, options) };
  const chosen = chosenFormat(options, output, host.stdout);
  if (output.hasOnlyJson === true && (chosen === 'json' || chosen === 'yaml')) {
    const call = toCall(command.args, options);
    if (chosen === 'json') return { call };
    const { dumpYaml } = await import('@addon-operator/yaml');
    return { call, toText: (body) => dumpYaml(parseJson(body) as Json, 2) };
  }
  const isTable = chosen === 'table' || chosen === 'wide';
  const format = isTable && output.hasTextTable === true ? 'text' : chosen;
  const paint = isTable || format === 'text' ? await painterFor(host) : undefined;
  const colours = paint === undefined ? {} : { paint };
  if (format === 'json' || format === 'yaml' || (format === 'text' && output.hasOnlyJson !== true))
    return { call: toCall(command.args, { ...options, output: format }), ...colours };
  const [toTable, { tableText }] = await Promise.all([
    output.table(options, command.args),
    import('../output/tables.ts'),
  ]);
  // Ages would make each line of a watched pipe a new one.
  const now = (): Now =>
    options['watch'] === true && host.stdout.isTTY !== true ? undefined : host.clock.wallMs();
  return {
    call: toCall(command.args, { ...options, output: 'json', isTable: true }),
    toText: (body) => tableText(toTable(parseJson(body), now()), format === 'text' ? 'table' : format),
    ...colours,
  };
}

/** Colours the states in tables; undefined where no colours are wanted. */
async function painterFor({ stdout, env }: CliHost): Promise<ResponseView['paint']> {
  const { paintFor, wantsColor } = await import('../output/paint.ts');
  if (!wantsColor(stdout.isTTY === true, env)) return undefined;
  const { paintTable } = await import('../output/paint-table.ts');
  return (text) => paintTable(text, paintFor(true));
}

/** Lets a command show its response again and again. */
export function addWatchOptions(command: Command): Command {
  return command
    .option('-w, --watch', 'show the output again when it changes, until Ctrl-C')
    .option('-t, --watchInterval <duration>', 'refresh interval while the operator reports no changes', '1s');
}

/** Path of the debug socket of the operator that a command is about. */
export async function socketPathOf(command: Command, host: CliHost): Promise<string> {
  const { findDebugSocket } = await import('../find-socket.ts');
  return await findDebugSocket(givenFlags(command), host);
}

/** The format that is requested from the operator. */
export function formatOf(options: Readonly<Record<string, unknown>>): string {
  return String(options['output']);
}
