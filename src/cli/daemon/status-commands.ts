import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { nameOption } from '../name-arguments.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { chosenFormat, outputOption } from '../output/output-format.ts';
import { addWatchOptions, type CommandParts, socketPathOf } from './debug-command.ts';

const FORMAT = { initial: 'text' } as const;

/** Adds `status`. */
export function addStatusCommand(program: Command, { host, runner }: CommandParts): void {
  const status = program
    .command('status')
    .summary('Say whether all is well, or what is in the way')
    .description('Say in one sentence whether all is well, then list other obstacles and counts')
    .addOption(outputOption(FORMAT))
    .option('--strict', 'exit with 2 for notices too')
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

/** Adds `events`. */
export function addEventsCommand(program: Command, { host, runner }: CommandParts): void {
  const events = program
    .command('events')
    .summary('Follow runs, queues and modules')
    .description('Print the last runs, and with -w each change of runs, queues and modules, one line each')
    .addOption(outputOption(FORMAT))
    .addOption(nameOption('module', '--for <name>', 'only about this module, hook or queue'))
    .option('-w, --watch', 'continue until Ctrl-C');
  addSettingOption(events, SETTINGS.debugUnixSocket);
  events.action(() =>
    runner(async () => {
      const options: Readonly<Record<string, unknown>> = events.opts();
      const { followEvents } = await import('./follow-events.ts');
      const { for: about } = events.opts<{ readonly for?: string }>();
      const output = { format: chosenFormat(options, FORMAT), isWatch: options['watch'] === true, about };
      return await followEvents(await socketPathOf(events, host), output, host);
    }),
  );
}

/** Adds `ui`. */
export function addUiCommand(program: Command, { host, runner }: CommandParts): void {
  const ui = program
    .command('ui')
    .summary('Print the address of the page')
    .description('Print the address of the page in the browser, with the token that opens it')
    .option('--open', 'open it in the browser');
  addSettingOption(ui, SETTINGS.debugUnixSocket);
  ui.action(() =>
    runner(async () => {
      const { printPageAddress } = await import('./print-page-address.ts');
      const options = { socketPath: await socketPathOf(ui, host), opensBrowser: ui.opts()['open'] === true };
      return await printPageAddress(options, host);
    }),
  );
}

/** Adds `debug-pipe`, which commands with a remote target run in the pod. */
export function addDebugPipeCommand(program: Command, { host, runner }: CommandParts): void {
  const pipe = program
    .command('debug-pipe', { hidden: true })
    .description('Connect standard input and output with the debug socket');
  addSettingOption(pipe, SETTINGS.debugUnixSocket);
  pipe.action(() =>
    runner(async () => {
      const { pipeDebugSocket } = await import('./debug-pipe.ts');
      return await pipeDebugSocket(await socketPathOf(pipe, host), host);
    }),
  );
}
