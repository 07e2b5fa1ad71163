import { type Command, Option } from 'commander';
import type { TextOutput } from '../cli-host.ts';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name', 'text'] as const;
/** `text` is the format of the original: the table of a command that has one there. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The format without `-o`, for a pipe and for a terminal. */
export interface DefaultFormat {
  readonly initial: OutputFormat;
  /** Absent: as for a pipe. */
  readonly terminal?: OutputFormat;
}

/** The option `-o`, with the same formats in every command. */
export function outputOption({ initial, terminal = initial }: DefaultFormat): Option {
  const onTerminal = terminal === initial ? '' : `, ${terminal} on a terminal`;
  return new Option(
    '-o, --output <format>',
    `format of the output (default: ${initial}${onTerminal})`,
  ).choices(OUTPUT_FORMATS);
}

/** The choice of {@link outputOption}. */
export function chosenFormat(
  options: Readonly<Record<string, unknown>>,
  { initial, terminal = initial }: DefaultFormat,
  { isTTY = false }: Pick<TextOutput, 'isTTY'> = {},
): OutputFormat {
  return OUTPUT_FORMATS.find((format) => format === options['output']) ?? (isTTY ? terminal : initial);
}

/** The format for a command that itself knows text and JSON; see {@link printed}. */
export function chosenByCommand(command: Command): OutputFormat {
  return chosenFormat(command.opts(), { initial: 'table' });
}
