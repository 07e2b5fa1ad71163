import type { Command } from 'commander';
import type { CliHost } from './cli-host.ts';
import { addDebugCommand, type CommandRunner, formatOf, outputOption } from './debug-command.ts';

const COMMANDS = [
  { name: 'list', description: 'List the global hooks' },
  { name: 'values', description: 'Show the global values' },
  { name: 'config', description: 'Show the global values of the ConfigMap' },
  { name: 'snapshots', description: 'Show the snapshots of global hooks' },
];

/** Adds `global list`, `values`, `config`, `snapshots` and `patches`. */
export function addGlobalCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const global = program.command('global').description('Show global values and hooks');
  for (const spec of COMMANDS) {
    addDebugCommand(
      global,
      spec,
      (_args, options) => ({ path: `/global/${spec.name}.${formatOf(options)}` }),
      {
        host,
        runner,
      },
    ).addOption(outputOption('yaml'));
  }
  addDebugCommand(
    global,
    { name: 'patches', description: 'Show the patches of the global values' },
    () => ({ path: '/global/patches.json' }),
    { host, runner },
  );
}
