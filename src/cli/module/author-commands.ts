import { type Command, Option } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { PROFILES } from '../../tools/lint/rule.ts';
import type { CommandParts } from '../daemon/debug-command.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import type { LintCommandOptions } from './module-lint-command.ts';
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
    .option(
      '--with <parts>',
      'parts, separated by commas: chart, schema, hook, crd (default: chart,schema,hook)',
    )
    .option(
      '--from <chart>',
      'deploy this chart instead: a directory, an archive of helm package, or oci://HOST/NAME:VERSION',
    )
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
    .description('Write a hook with one binding, or the hooks of an example, and tests that pass')
    .argument(
      '<path>',
      'path of the hook, such as modules/030-web/hooks/records or global-hooks/facts.py; with --template the directory of the hooks',
    )
    .option('--template <name>', 'the hooks of an example in examples/catalogue, such as secret-copier')
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

const FORMATS = ['text', 'json', 'sarif', 'junit', 'github'];

/** Adds `module lint`. */
function addLintCommand(module: Command, { host, runner }: CommandParts): void {
  const lint = module
    .command('lint')
    .summary('Check modules without a cluster')
    .description(
      'Check modules with the parsers and the renderer of the operator, without a cluster; docs/lint.md explains the rules',
    )
    .argument('[directories...]', 'modules, or directories of modules; default: the modules directories')
    .addOption(new Option('-o, --output <format>', 'format of the output').choices(FORMATS).default('text'))
    .option('--fix', 'fix modes and line ends')
    .option('--rule <code...>', 'check only these rules')
    .addOption(new Option('--profile <name>', 'check further rules').choices(PROFILES))
    .option('--strict', 'warnings count as errors')
    .option('--explain <code>', 'explain a rule')
    .addHelpText('after', '\nExit code: 0 no errors, 1 errors, or modules that cannot be checked.')
    .action((directories: readonly string[]) =>
      runner(async () => {
        const { moduleLintCommand } = await import('./module-lint-command.ts');
        return await moduleLintCommand({ ...lint.opts<LintCommandOptions>(), directories }, host);
      }),
    );
}
