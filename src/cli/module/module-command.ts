import type { Command } from 'commander';
import {
  addDebugCommand,
  addWatchOptions,
  type CommandParts,
  type DebugCommandSpec,
  DOCUMENT,
  formatOf,
} from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';
import { addArtifactCommands } from './artifact-commands.ts';
import { addModuleAuthorCommands } from './author-commands.ts';
import { addHistoryCommands } from './history-commands.ts';
import { addMirrorCommand } from './mirror-command.ts';
import { addApproveCommands } from './module-approve-commands.ts';
import { addSignCommands } from './module-sign-commands.ts';
import { addStoreCommands } from './module-store-commands.ts';
import { addPauseCommands } from './pause-commands.ts';

const VALUES_COMMANDS = [
  { name: 'values', description: 'Show the values of a module' },
  { name: 'config', description: 'Show the values of a module in the ConfigMap' },
];

/** Adds `module` with its commands; those of one subject are in the files beside this one. */
export function addModuleCommand(program: Command, { host, runner }: CommandParts): void {
  const module = program
    .command('module')
    .description('Show, create, check, run, stop, pause and sign modules');
  const common = { host, runner };
  const list = addDebugCommand(
    module,
    {
      name: 'list',
      description: 'List the modules: a table has all, other formats the enabled ones',
      output: {
        initial: 'yaml',
        terminal: 'table',
        table: async ({ all, problems }) =>
          (await import('../output/tables.ts')).modulesTable(all === true || problems === true),
      },
    },
    (_args, options) => ({ path: `/module/list.${formatOf(options)}${listQuery(options)}` }),
    common,
  )
    .option('-a, --all', 'all modules in other formats too, with states, reasons, failures and pauses')
    .option('--problems', 'only modules with a problem of their own, without those that wait for them');
  addWatchOptions(list);
  addExplanation(module, { name: 'explain', alias: 'show' }, common);
  addSignCommands(module, common);
  addArtifactCommands(module, common);
  addModuleAuthorCommands(module, common);
  addMirrorCommand(module, common);
  addStoreCommands(module, common);
  addPauseCommands(module, common, pathOf);
  addApproveCommands(module, common);
  addOperationCommands(module, common, pathOf);
  addValuesCommands(module, common);
  addDebugCommand(
    module,
    {
      name: 'patches',
      description: 'Show the patches of the values of a module',
      output: { ...DOCUMENT, initial: 'json' },
    },
    ([name = ''], options) => ({ path: `${pathOf(name)}/patches.${formatOf(options)}` }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addDebugCommand(
    module,
    { name: 'render', description: 'Render the chart of a module' },
    ([name = ''], options) => ({
      path: `${pathOf(name)}/render?debug=${options['debug'] === true}&diff=${options['diff'] === true}`,
    }),
    common,
  )
    .addArgument(nameArgument('module', '<name>', 'name of the module'))
    .option('--debug', 'also show manifests that are not valid YAML')
    .option('--diff', 'show what would change in the cluster');
  addHistoryCommands(module, common, pathOf);
  const monitor = addDebugCommand(
    module,
    {
      name: 'resource-monitor',
      description: 'List the objects that are monitored for deletion',
      output: DOCUMENT,
    },
    (_args, options) => ({ path: `/module/resource-monitor.${formatOf(options)}` }),
    common,
  ).argument('[name]', 'accepted and ignored');
  addWatchOptions(monitor);
  addDebugCommand(
    module,
    {
      name: 'snapshots',
      description: 'Show the snapshots of the hooks of a module',
      output: DOCUMENT,
    },
    ([name = ''], options) => ({ path: `${pathOf(name)}/snapshots.${formatOf(options)}` }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addReleaseCommands(module, common, pathOf);
}

function listQuery({ all, problems, isTable }: Readonly<Record<string, unknown>>): string {
  if (problems === true) return '?problems=true';
  return all === true || isTable === true ? '?all=true' : '';
}

function addValuesCommands(module: Command, common: CommandParts): void {
  for (const spec of VALUES_COMMANDS) {
    addDebugCommand(
      module,
      { ...spec, output: DOCUMENT },
      ([name = ''], options) => ({
        path: `${pathOf(name)}/${spec.name}.${formatOf(options)}?global=${options['global'] === true}`,
      }),
      common,
    )
      .addArgument(nameArgument('module', '<name>', 'name of the module'))
      .option('-g, --global', 'also show the global values');
  }
}

/** Adds `explain module`, which `explain NAME` means too. */
export function addExplainCommand(program: Command, common: CommandParts): void {
  const explain = program
    .command('explain')
    .summary('Explain the state of a module')
    .description('Explain why something is in its current state');
  addExplanation(explain, { name: 'module', isDefault: true }, common);
}

function addExplanation(
  parent: Command,
  spec: Pick<DebugCommandSpec, 'name' | 'alias' | 'isDefault'>,
  common: CommandParts,
): void {
  const command = addDebugCommand(
    parent,
    {
      ...spec,
      description: 'Show what enabled a module, what it waits for and what failed',
      output: {
        initial: 'text',
        hasTextTable: true,
        table: async () => (await import('../output/tables.ts')).explanationTable,
      },
    },
    ([name = ''], options) => ({ path: `${pathOf(name)}/explain.${formatOf(options)}` }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addWatchOptions(command);
}

function pathOf(module: string): string {
  return `/module/${encodeURIComponent(module)}`;
}

/** Adds `reconcile` and `abort` below a command. @param pathOf path of a module */
function addOperationCommands(
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
    ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  add('reconcile', 'Run a module now', (isForced) => (isForced ? 'force-reconcile' : 'reconcile'))
    .alias('run')
    .option('-f, --force', 'apply the chart with helm even if nothing has changed');
  add(
    'abort',
    'Stop the current run or deletion of a module; it runs again when something changes',
    () => 'abort',
  );
}

const ANY_MODULE = 'name of the module; its directory may be gone';

/**
 * Adds what a person decides about files, releases and their deletion: `module confirm-purge`, `module confirm-files`, `module release-finalizer` and
 * `module release-unlock`.
 */
function addReleaseCommands(module: Command, common: CommandParts, pathOf: (module: string) => string): void {
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
      name: 'confirm-files',
      description: 'Confirm that missing files of a module were removed on purpose',
    },
    ([name = '']) => ({ path: `${pathOf(name)}/confirm-files`, form: {} }),
    common,
  ).addArgument(nameArgument('module', '<name>', 'name of the module'));
  addDebugCommand(
    module,
    {
      name: 'release-finalizer',
      description: 'Delete a module whose reconcile webhook no longer exists',
    },
    ([name = '']) => ({ path: `${pathOf(name)}/release-finalizer`, form: {} }),
    common,
  ).addArgument(nameArgument('module', '<name>', ANY_MODULE));
  addDebugCommand(
    module,
    {
      name: 'release-unlock',
      description: 'Take over the helm release of a module that another helm process left locked',
    },
    ([name = '']) => ({ path: `${pathOf(name)}/release-unlock`, form: {} }),
    common,
  ).addArgument(nameArgument('module', '<name>', ANY_MODULE));
}
