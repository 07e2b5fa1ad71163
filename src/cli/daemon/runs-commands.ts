import type { Command } from 'commander';
import { nameArgument, nameOption } from '../name-arguments.ts';
import { addDebugCommand, addWatchOptions, type CommandParts } from './debug-command.ts';

/** Adds `runs`, `runs show` and `next`. */
export function addRunsCommands(program: Command, parts: CommandParts): void {
  const runs = addDebugCommand(
    program,
    {
      name: 'runs',
      summary: 'List the last runs of tasks and hooks',
      description: 'List the last runs of tasks and hooks, the newest first',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('./run-tables.ts')).runsTable,
      },
    },
    (_args, options) => ({ path: `/api/v1/runs?${runsQuery(options).toString()}` }),
    parts,
  )
    .addOption(nameOption('module', '-m, --module <name>', 'only runs of this module'))
    .addOption(nameOption('hook', '--hook <name>', 'only runs of this hook; MODULE/NAME of this module'))
    .addOption(nameOption('queue', '--queue <name>', 'only runs in this queue'))
    .option('--event <id>', 'only what this event led to')
    .option('--failed', 'only failed runs')
    .option('--limit <number>', 'how many, at most 500', '50');
  addWatchOptions(runs);
  const show = addDebugCommand(
    runs,
    {
      name: 'show',
      description: 'Show one run: what led to it, what it did, and what the hook printed',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('./run-tables.ts')).runTable,
      },
    },
    ([id = '']) => ({ path: `/api/v1/runs/${encodeURIComponent(id)}` }),
    parts,
  ).addArgument(nameArgument('run', '<id>', 'number of the run, as `runs` lists it'));
  addWatchOptions(show);
  const next = addDebugCommand(
    program,
    {
      name: 'next',
      summary: 'List what happens next',
      description: 'List what happens at known times: retries, crontabs, checks of modules, ends of pauses',
      output: {
        initial: 'table',
        hasOnlyJson: true,
        table: async () => (await import('./run-tables.ts')).nextTable,
      },
    },
    (_args, options) => ({ path: `/api/v1/next?hours=${encodeURIComponent(String(options['hours']))}` }),
    parts,
  ).option('--hours <number>', 'how far to look ahead', '24');
  addWatchOptions(next);
}

function runsQuery(options: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['module', 'hook', 'queue', 'event', 'limit']) {
    const value = options[name];
    if (typeof value === 'string') query.set(name, value);
  }
  if (options['failed'] === true) query.set('result', 'failed');
  return query;
}

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
