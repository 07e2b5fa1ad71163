import type { Command } from 'commander';
import { nameArgument } from '../name-arguments.ts';
import { addDebugCommand, addWatchOptions, type CommandParts } from './debug-command.ts';

/** Adds `trace`. */
export function addTraceCommand(program: Command, parts: CommandParts): void {
  const trace = addDebugCommand(
    program,
    {
      name: 'trace',
      summary: 'Show all that an event led to',
      description:
        'Show all runs that an event led to as a tree, from what the operator remembers: no trace has to be exported for that',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('./trace-table.ts')).traceTable,
      },
    },
    ([id = '']) => ({ path: `/api/v1/events/${encodeURIComponent(id)}` }),
    parts,
  ).addArgument(
    nameArgument('run', '<event>', 'id of an event (`event.id` in the log), of a run or of a trace'),
  );
  addWatchOptions(trace);
}
