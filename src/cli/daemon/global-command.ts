import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  addDebugCommand,
  addWatchOptions,
  type CommandRunner,
  DOCUMENT,
  formatOf,
  type OutputSpec,
} from './debug-command.ts';

const LIST: OutputSpec = {
  initial: 'yaml',
  terminal: 'table',
  table: async () => (await import('../output/tables.ts')).globalHooksTable,
};

const COMMANDS: readonly {
  readonly name: string;
  readonly description: string;
  readonly output?: OutputSpec;
}[] = [
  { name: 'list', description: 'List the global hooks', output: LIST },
  { name: 'values', description: 'Show the global values' },
  { name: 'config', description: 'Show the global values of the ConfigMap' },
  { name: 'snapshots', description: 'Show the snapshots of global hooks' },
];

/** Adds `global list`, `values`, `config`, `snapshots` and `patches`. */
export function addGlobalCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const global = program.command('global').description('Show global values and hooks');
  for (const spec of COMMANDS) {
    const command = addDebugCommand(
      global,
      { output: DOCUMENT, ...spec },
      (_args, options) => ({ path: `/global/${spec.name}.${formatOf(options)}` }),
      {
        host,
        runner,
      },
    );
    if (spec.output === LIST) addWatchOptions(command);
  }
  addDebugCommand(
    global,
    {
      name: 'patches',
      description: 'Show the patches of the global values',
      output: { ...DOCUMENT, initial: 'json' },
    },
    (_args, options) => ({ path: `/global/patches.${formatOf(options)}` }),
    { host, runner },
  );
}
