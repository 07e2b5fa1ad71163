import type { Command } from 'commander';
import type { CliHost } from './cli-host.ts';
import { addDebugCommand, type CommandRunner } from './debug-command.ts';

const ANY_MODULE = 'name of the module; its directory may be gone';

/**
 * Adds what a person decides about releases and their deletion: `module confirm-purge`, `module release-finalizer` and
 * `module release-unlock`.
 */
export function addReleaseCommands(
  module: Command,
  common: { readonly host: CliHost; readonly runner: CommandRunner },
  pathOf: (module: string) => string,
): void {
  addDebugCommand(
    module,
    {
      name: 'confirm-purge',
      description: 'Confirm the removal of releases whose module directory is gone',
    },
    () => ({ path: '/module/confirm-purge', form: {} }),
    common,
  );
  addDebugCommand(
    module,
    {
      name: 'release-finalizer',
      description: 'Delete a module whose reconcile webhook no longer exists',
    },
    ([name = '']) => ({ path: `${pathOf(name)}/release-finalizer`, form: {} }),
    common,
  ).argument('<name>', ANY_MODULE);
  addDebugCommand(
    module,
    {
      name: 'release-unlock',
      description: 'Take over the helm release of a module that another helm process left locked',
    },
    ([name = '']) => ({ path: `${pathOf(name)}/release-unlock`, form: {} }),
    common,
  ).argument('<name>', ANY_MODULE);
}
