import type { Command } from 'commander';
import { addDebugCommand, type CommandParts } from './debug-command.ts';

/** Adds `reconcile` and `abort` below a command. @param pathOf path of a module */
export function addOperationCommands(
  parent: Command,
  parts: CommandParts,
  pathOf: (module: string) => string,
): void {
  const add = (name: string, description: string, operationOf: (isForced: boolean) => string): Command =>
    addDebugCommand(
      parent,
      { name, description },
      ([module = ''], options) => ({
        path: `${pathOf(module)}/operation`,
        form: { operation: operationOf(options['force'] === true) },
      }),
      parts,
    ).argument('<name>', 'name of the module');
  add('reconcile', 'Run a module now', (isForced) => (isForced ? 'force-reconcile' : 'reconcile')).option(
    '-f, --force',
    'apply the chart with helm even if nothing has changed',
  );
  add(
    'abort',
    'Stop the current run or deletion of a module; it runs again when something changes',
    () => 'abort',
  );
}
