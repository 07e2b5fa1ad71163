import { type Command, InvalidArgumentError } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import { chosenFormat, outputOption } from '../output/output-format.ts';
import type { StoreOptions } from './change-store.ts';

/** Adds `module store` with `add`, `list`, `remove` and `gc`. */
export function addStoreCommands(module: Command, { host, runner }: CommandParts): void {
  const store = module
    .command('store')
    .summary('Add, list and remove modules of a store')
    .description(
      'Add, list and remove versions of modules in a module store, which a running operator notices within seconds',
    );
  inStore(store.command('add'))
    .description('Add versions of modules to the store, and make them the ones that run')
    .argument('<paths...>', 'archives (.tgz), or directories of modules')
    .option(
      '--order <number>',
      'number in the name of the module; default: as it is linked, else 30',
      orderOf,
    )
    .action((paths: readonly string[], options: StoreOptions & { readonly order?: string }) =>
      runner(async () => {
        const { addToStore } = await import('./change-store.ts');
        return await addToStore({ ...options, paths }, host);
      }),
    );
  inStore(store.command('list'))
    .description('List the versions in the store, and which of them are linked')
    .addOption(outputOption({ initial: 'table' }))
    .action(({ store: directory, output }: StoreOptions & { readonly output?: string }) =>
      runner(async () => {
        const { listStore } = await import('./change-store.ts');
        const format = chosenFormat({ output }, { initial: 'table' });
        return await listStore({ store: directory }, format, host);
      }),
    );
  inStore(store.command('remove'))
    .description('Remove a module, whose release is then deleted as that of a disabled module')
    .argument('<name>', 'name of the module')
    .action((name: string, options: StoreOptions) =>
      runner(async () => {
        const { removeFromStore } = await import('./change-store.ts');
        return await removeFromStore({ ...options, name }, host);
      }),
    );
  inStore(store.command('gc'))
    .description('Remove old versions that are not linked')
    .option('--keep <number>', 'versions of each module to keep besides the linked one', orderOf, '2')
    .option('--older-than <duration>', 'keep younger versions', '24h')
    .action((options: StoreOptions & { readonly keep: string; readonly olderThan: string }) =>
      runner(async () => {
        const { collectStore } = await import('./change-store.ts');
        return await collectStore(options, host);
      }),
    );
}

function inStore(command: Command): Command {
  return command.option('--store <directory>', 'the module store (ADDON_OPERATOR_MODULE_STORE)');
}

function orderOf(value: string): string {
  if (/^\d{1,9}$/u.test(value)) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}
