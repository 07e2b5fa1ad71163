import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { addDebugCommand, addWatchOptions, type CommandRunner, formatOf } from './debug-command.ts';

/** Adds `config list` and `config set`. */
export function addConfigCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const config = program.command('config').description('Show and change runtime parameters');
  const list = addDebugCommand(
    config,
    {
      name: 'list',
      description: 'List the runtime parameters',
      output: {
        initial: 'text',
        terminal: 'table',
        table: async () => (await import('../output/tables.ts')).parametersTable,
      },
    },
    (_args, options) => ({ path: `/config/list.${formatOf(options)}` }),
    { host, runner },
  );
  addWatchOptions(list);
  addDebugCommand(
    config,
    { name: 'set', description: 'Change a runtime parameter, permanently or for a duration' },
    ([name = '', value = '', duration = '']) => ({ path: '/config/set', form: { name, value, duration } }),
    { host, runner },
  )
    .argument('<name>', 'such as log.level')
    .argument('<value>', 'such as debug')
    .argument('[duration]', 'such as 30m');
}
