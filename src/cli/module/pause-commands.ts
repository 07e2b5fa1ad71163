import { stringOf } from '@addon-operator/json';
import type { Command } from 'commander';
import { addDebugCommand, type CommandParts } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';

/**
 * Adds `pause` and `resume` below a command.
 *
 * @param pathOf path of a module; without it the commands are about all modules
 */
export function addPauseCommands(
  parent: Command,
  parts: CommandParts,
  pathOf?: (module: string) => string,
): void {
  const what = pathOf === undefined ? 'all modules' : 'a module';
  const base = (name = ''): string => pathOf?.(name) ?? '';
  const pause = addDebugCommand(
    parent,
    {
      name: 'pause',
      summary: `Pause ${what}`,
      description: `Pause ${what}: helm and the hooks of its runs do not run`,
    },
    ([name], options) => ({
      path: `${base(name)}/pause`,
      form: {
        reason: stringOf(options['reason']),
        for: stringOf(options['for']),
        until: stringOf(options['until']),
      },
    }),
    parts,
  )
    .requiredOption('--reason <text>', 'reason for the pause; explain shows it')
    .option('--for <duration>', 'such as 2h; default: until it is resumed')
    .option('--until <time>', 'such as 2026-05-31T18:00:00Z');
  const resume = addDebugCommand(
    parent,
    { name: 'resume', description: `End the pause of ${what}` },
    ([name]) => ({ path: `${base(name)}/resume`, form: {} }),
    parts,
  );
  if (pathOf === undefined) return;
  for (const command of [pause, resume])
    command.addArgument(nameArgument('module', '<name>', 'name of the module'));
}
