import { type Command, Option } from 'commander';
import { SETTINGS } from '../../settings.ts';
import type { CommandParts } from '../daemon/debug-command.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import { addLintCommand } from './module-lint.ts';
import type { NewHookFlags, NewModuleFlags } from './new-files.ts';

const LANGUAGES = ['sh', 'python', 'ts', 'go', 'http'];

function languageOption(): Option {
  return new Option(
    '--lang <language>',
    'language of the hook; default: that of the ending, else sh',
  ).choices(LANGUAGES);
}

/** Adds `module new` and `module lint`. */
export function addModuleAuthorCommands(module: Command, parts: CommandParts): void {
  addModuleNewCommand(module, parts);
  addLintCommand(module, parts);
}

function addModuleNewCommand(module: Command, { host, runner }: CommandParts): void {
  const command = module
    .command('new')
    .summary('Write the first files of a module')
    .description(
      'Write the first files of a module: a chart, a schema of its values, and a hook with its test',
    )
    .argument('<name>', 'name in kebab-case, such as web-shop')
    .option('--order <number>', 'number in the name of the directory', '030')
    .option('--with <parts>', 'parts, separated by commas: chart, schema, hook, crd', 'chart,schema,hook')
    .addOption(languageOption());
  addSettingOption(command, SETTINGS.modulesDirs);
  command.addHelpText('after', '\nOf several modules directories the first one gets the module.');
  command.action((name: string) =>
    runner(async () => {
      const { newModuleCommand } = await import('./new-files.ts');
      return await newModuleCommand(name, command.opts<NewModuleFlags>(), givenFlags(command), host);
    }),
  );
}

/** Adds `hook new`. */
export function addHookNewCommand(hook: Command, { host, runner }: CommandParts): void {
  const command = hook
    .command('new')
    .summary('Write a hook and its test')
    .description('Write a hook with one binding, and a test that passes')
    .argument('<path>', 'path of the hook, such as modules/030-web/hooks/records or global-hooks/facts.py')
    .addOption(languageOption())
    .option(
      '--on <trigger>',
      'when it runs: a lifecycle binding, schedule:CRONTAB, kubernetes:APIVERSION/KIND or validating:APIVERSION/RESOURCE; default: beforeHelm, of a global hook onStartup',
    )
    .action((path: string) =>
      runner(async () => {
        const { newHookCommand } = await import('./new-files.ts');
        return await newHookCommand(path, command.opts<NewHookFlags>(), host);
      }),
    );
}
