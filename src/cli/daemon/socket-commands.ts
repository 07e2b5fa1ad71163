import type { Command } from 'commander';
import { nameArgument } from '../name-arguments.ts';
import type { ToTable } from '../output/tables.ts';
import {
  addDebugCommand,
  addWatchOptions,
  type CommandParts,
  type DebugCommandSpec,
  DOCUMENT,
  formatOf,
  type OutputSpec,
} from './debug-command.ts';

/** The text of the original in a pipe, where scripts read it. */
const TEXT_OR_TABLE = { initial: 'text', terminal: 'table' } as const;

const TASKS = '/queue/list.json?tasks=true';

/** Adds `queue main`, `queue list` and `queue retry`. */
export function addQueueCommand(program: Command, parts: CommandParts): void {
  const queue = program.command('queue').description('Show the task queues, and retry a failed task');
  const main = addDebugCommand(
    queue,
    {
      name: 'main',
      description: 'Show the tasks of the main queue',
      output: { ...TEXT_OR_TABLE, table: () => queuesTableOf(['main'], true) },
    },
    (_args, options) => ({ path: options['isTable'] === true ? TASKS : `/queue/main.${formatOf(options)}` }),
    parts,
  );
  addWatchOptions(main);
  const list = addDebugCommand(
    queue,
    {
      name: 'list',
      alias: 'show',
      description: 'Show the tasks of all queues',
      output: {
        ...TEXT_OR_TABLE,
        table: ({ showEmpty }, names) => queuesTableOf(names, showEmpty === true),
      },
    },
    (names, options) => {
      if (options['isTable'] === true) return { path: TASKS };
      const query = new URLSearchParams({ showEmpty: String(options['showEmpty'] === true) });
      for (const name of names) query.append('queue', name);
      return { path: `/queue/list.${formatOf(options)}?${query.toString()}` };
    },
    parts,
  )
    .addArgument(nameArgument('queue', '[queue...]', 'only these queues; default: all'))
    .option('-e, --show-empty', 'also list empty queues');
  addWatchOptions(list);
  addDebugCommand(
    queue,
    { name: 'retry', description: 'Retry the first task of a queue now, without its delay after a failure' },
    ([name = '']) => ({ path: '/queue/retry', form: { queue: name } }),
    parts,
  ).addArgument(nameArgument('queue', '<name>', 'name of the queue, such as main'));
}

async function queuesTableOf(names: readonly string[], isEmptyShown: boolean): Promise<ToTable> {
  const { queuesTable } = await import('./queue-table.ts');
  return queuesTable({ names, isEmptyShown });
}

const LIST: OutputSpec = {
  initial: 'yaml',
  terminal: 'table',
  table: async () => (await import('../output/tables.ts')).globalHooksTable,
};

const GLOBAL_COMMANDS: readonly (DebugCommandSpec & { readonly output: OutputSpec })[] = [
  { name: 'list', description: 'List the global hooks', output: LIST },
  { name: 'values', description: 'Show the global values', output: DOCUMENT },
  { name: 'config', description: 'Show the global values of the ConfigMap', output: DOCUMENT },
  { name: 'snapshots', description: 'Show the snapshots of global hooks', output: DOCUMENT },
  {
    name: 'patches',
    description: 'Show the patches of the global values',
    output: { ...DOCUMENT, initial: 'json' },
  },
];

/** Adds `global list`, `values`, `config`, `snapshots` and `patches`. */
export function addGlobalCommand(program: Command, parts: CommandParts): void {
  const global = program.command('global').description('Show global values and hooks');
  for (const spec of GLOBAL_COMMANDS) {
    const command = addDebugCommand(
      global,
      spec,
      (_args, options) => ({ path: `/global/${spec.name}.${formatOf(options)}` }),
      parts,
    );
    if (spec.output === LIST) addWatchOptions(command);
  }
}

/** Adds `config list` and `config set`. */
export function addConfigCommand(program: Command, parts: CommandParts): void {
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
    parts,
  );
  addWatchOptions(list);
  addDebugCommand(
    config,
    { name: 'set', description: 'Change a runtime parameter, permanently or for a duration' },
    ([name = '', value = '', duration = '']) => ({ path: '/config/set', form: { name, value, duration } }),
    parts,
  )
    .argument('<name>', 'such as log.level')
    .argument('<value>', 'such as debug')
    .argument('[duration]', 'such as 30m');
}
