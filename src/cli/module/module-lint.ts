import { type Command, Option } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import type { LintCommandOptions } from './module-lint-command.ts';

const FORMATS = ['text', 'json', 'sarif', 'junit', 'github'];

/** Adds `module lint`. */
export function addLintCommand(module: Command, { host, runner }: CommandParts): void {
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
    .addOption(new Option('--profile <name>', 'check further rules').choices(['restricted']))
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
