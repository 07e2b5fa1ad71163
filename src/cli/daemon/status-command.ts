import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { chosenFormat, outputOption } from '../output/output-format.ts';
import { addWatchOptions, type CommandRunner, socketPathOf } from './debug-command.ts';

const FORMAT = { initial: 'text' } as const;

/** Adds `status`. */
export function addStatusCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const status = program
    .command('status')
    .summary('Say whether all is well, or what is in the way')
    .description('Say in one sentence whether all is well, then list other obstacles and counts')
    .addOption(outputOption(FORMAT))
    .option('--strict', 'exit with 1 for notices too')
    .addHelpText(
      'after',
      '\nExit code: 0 all is well, or there are only notices; 2 something is in progress and needs no help; 1 a person has to act, or no operator responds.',
    );
  addSettingOption(status, SETTINGS.debugUnixSocket);
  addWatchOptions(status).action(() =>
    runner(async () => {
      const options: Readonly<Record<string, unknown>> = status.opts();
      const socketPath = await socketPathOf(status, host);
      if (options['watch'] === true) {
        const { watchResponse } = await import('../output/watch-response.ts');
        return await watchResponse(socketPath, '/status.text', String(options['watchInterval']), host);
      }
      const { printStatus } = await import('./print-status.ts');
      const chosen = { format: chosenFormat(options, FORMAT), isStrict: options['strict'] === true };
      return await printStatus(socketPath, chosen, host);
    }),
  );
}
