import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { type CommandRunner, socketPathOf } from './debug-command.ts';

/** Adds `ui`. */
export function addUiCommand(
  program: Command,
  { host, runner }: { readonly host: CliHost; readonly runner: CommandRunner },
): void {
  const ui = program
    .command('ui')
    .summary('Print the address of the page')
    .description('Print the address of the page in the browser, with the token that opens it');
  addSettingOption(ui, SETTINGS.debugUnixSocket);
  ui.action(() =>
    runner(async () => {
      const { printPageAddress } = await import('./print-page-address.ts');
      return await printPageAddress(await socketPathOf(ui, host), host);
    }),
  );
}
