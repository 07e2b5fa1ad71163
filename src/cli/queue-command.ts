import type { Command } from 'commander';
import { SETTINGS } from '../settings.ts';
import type { CliHost } from './cli-host.ts';
import {
  addDebugCommand,
  type CommandRunner,
  formatOf,
  outputOption,
  socketPathOf,
} from './debug-command.ts';
import { addSettingOption } from './setting-options.ts';

/** Adds `queue main` and `queue list`. */
export function addQueueCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const queue = program.command('queue').description('Show the task queues');
  addDebugCommand(
    queue,
    { name: 'main', description: 'Show the tasks of the main queue' },
    (_args, options) => ({ path: `/queue/main.${formatOf(options)}` }),
    { host, runner },
  ).addOption(outputOption('text'));

  const list = queue
    .command('list')
    .description('Show the tasks of all queues')
    .option('-e, --show-empty', 'also list empty queues')
    .option('-w, --watch', 'refresh the output until Ctrl-C')
    .option('-t, --watchInterval <duration>', 'interval between refreshes', '1s')
    .addOption(outputOption('text'));
  addSettingOption(list, SETTINGS.debugUnixSocket);
  list.action(() =>
    runner(async () => {
      const options: Readonly<Record<string, unknown>> = list.opts();
      const path = `/queue/list.${formatOf(options)}?showEmpty=${options['showEmpty'] === true}`;
      const socketPath = await socketPathOf(list, host);
      if (options['watch'] === true) {
        const { watchAnswer } = await import('./watch-answer.ts');
        return await watchAnswer(socketPath, path, String(options['watchInterval']), host);
      }
      const { printAnswer } = await import('./print-answer.ts');
      return await printAnswer(socketPath, { path }, host);
    }),
  );
}
