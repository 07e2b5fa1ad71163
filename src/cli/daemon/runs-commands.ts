import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { nameArgument, nameOption } from '../name-arguments.ts';
import { addSettingOption } from '../operator/setting-options.ts';
import { addDebugCommand, addWatchOptions, type CommandParts, socketPathOf } from './debug-command.ts';

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
    ([id = '']) => ({ path: `/api/v1/runs/${encodeURIComponent(numberOf(id))}` }),
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

/** Also takes `run/12`, as `-o name` prints it. */
function numberOf(id: string): string {
  return id.replace(/^run\//, '');
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

/** Adds `logs`. */
export function addLogsCommand(program: Command, { host, runner }: CommandParts): void {
  const logs = program
    .command('logs')
    .summary('Print what the hooks of a module printed')
    .description('Print what the last runs of a module printed, and why they failed, the oldest first')
    .addArgument(nameArgument('module', '<module>', 'name of the module'))
    .option('-f, --follow', 'then print the lines of the log about the module, until Ctrl-C')
    .option(
      '--limit <number>',
      'how many of its last 500 runs: of those that printed something or failed',
      '20',
    );
  addSettingOption(logs, SETTINGS.debugUnixSocket);
  logs.action((module: string) =>
    runner(async () => {
      const { printLogs } = await import('./print-logs.ts');
      const { limit, follow = false } = logs.opts<{ readonly limit: string; readonly follow?: true }>();
      return await printLogs(await socketPathOf(logs, host), { module, limit, isFollowing: follow }, host);
    }),
  );
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
    ([id = '']) => ({ path: `/api/v1/events/${encodeURIComponent(numberOf(id))}` }),
    parts,
  ).addArgument(
    nameArgument('run', '<event>', 'id of an event (`event.id` in the log), of a run or of a trace'),
  );
  addWatchOptions(trace);
}
