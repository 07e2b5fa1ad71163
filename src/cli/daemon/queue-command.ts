import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { nameArgument } from '../name-arguments.ts';
import {
  addDebugCommand,
  addWatchOptions,
  type CommandRunner,
  formatOf,
  type OutputSpec,
} from './debug-command.ts';

/** Its text is for people as well. */
const TASKS: OutputSpec = {
  initial: 'text',
  table: async () => (await import('../output/tables.ts')).queuesTable,
};

/** Adds `queue main` and `queue list`. */
export function addQueueCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const queue = program.command('queue').description('Show the task queues');
  const main = addDebugCommand(
    queue,
    { name: 'main', description: 'Show the tasks of the main queue', output: TASKS },
    (_args, options) => ({ path: `/queue/main.${formatOf(options)}` }),
    { host, runner },
  );
  addWatchOptions(main);
  const list = addDebugCommand(
    queue,
    { name: 'list', description: 'Show the tasks of all queues', output: TASKS },
    (names, options) => {
      const query = new URLSearchParams({ showEmpty: String(options['showEmpty'] === true) });
      for (const name of names) query.append('queue', name);
      return { path: `/queue/list.${formatOf(options)}?${query.toString()}` };
    },
    { host, runner },
  )
    .addArgument(nameArgument('queue', '[queue...]', 'only these queues; default: all'))
    .option('-e, --show-empty', 'also list empty queues');
  addWatchOptions(list);
}
