import { stringOf } from '@addon-operator/json';
import type { Command } from 'commander';
import { addDebugCommand, addWatchOptions, type CommandParts } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';

/** Adds `module history`, `module objects` and `module rollback`. @param pathOf path of a module */
export function addHistoryCommands(
  module: Command,
  common: CommandParts,
  pathOf: (module: string) => string,
): void {
  const history = addDebugCommand(
    module,
    {
      name: 'history',
      description: 'Show what a module was deployed from, the newest first',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('../output/tables.ts')).historyTable,
      },
    },
    ([name = '']) => ({ path: `/api/v1/modules/${encodeURIComponent(name)}/history` }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addWatchOptions(history);
  const objects = addDebugCommand(
    module,
    {
      name: 'objects',
      description: 'Show the objects of a module as they are in the cluster, problems first',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('../output/tables.ts')).objectsTable,
      },
    },
    ([name = '']) => ({ path: `/api/v1/modules/${encodeURIComponent(name)}/objects` }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addWatchOptions(objects);
  addDebugCommand(
    module,
    { name: 'rollback', description: 'Take a module back to an earlier revision of its release' },
    ([name = ''], options) => ({
      path: `${pathOf(name)}/rollback`,
      form: {
        to: stringOf(options['to']),
        withValues: String(options['withValues'] === true),
        dryRun: String(options['dryRun'] === true),
      },
    }),
    common,
  )
    .addArgument(nameArgument('module', '<name>', 'name of the module'))
    .option('--to <version|revision>', 'see module history; default: the newest good one with other files')
    .option('--with-values', 'also restore the section of the ConfigMap of that revision')
    .option('--dry-run', 'only show what would be done');
}
