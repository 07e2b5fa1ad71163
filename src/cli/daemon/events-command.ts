import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { chosenFormat, outputOption } from '../output/output-format.ts';
import { type CommandParts, socketPathOf } from './debug-command.ts';

const FORMAT = { initial: 'text' } as const;

/** Adds `events`. */
export function addEventsCommand(program: Command, { host, runner }: CommandParts): void {
  const events = program
    .command('events')
    .summary('Follow runs, queues and modules')
    .description('Print the last runs, and with -w each change of runs, queues and modules, one line each')
    .addOption(outputOption(FORMAT))
    .option('-w, --watch', 'continue until Ctrl-C');
  addSettingOption(events, SETTINGS.debugUnixSocket);
  events.action(() =>
    runner(async () => {
      const options: Readonly<Record<string, unknown>> = events.opts();
      const { followEvents } = await import('./follow-events.ts');
      const output = { format: chosenFormat(options, FORMAT), isWatch: options['watch'] === true };
      return await followEvents(await socketPathOf(events, host), output, host);
    }),
  );
}
