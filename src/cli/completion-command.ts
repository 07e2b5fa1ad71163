import { Argument, type Command } from 'commander';
import type { CliHost } from './cli-host.ts';
import { completionScript, completions, SHELLS, type Shell } from './completion.ts';
import type { CommandRunner } from './debug-command.ts';

/** Adds `completion`, and the hidden command that its scripts ask. To be added last: it offers what is there. */
export function addCompletionCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  program
    .command('completion')
    .description('Print a script for a shell that completes commands and flags')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', '\nbash: source <(addon-operator completion bash)')
    .action((shell: Shell) =>
      runner(async () => {
        host.stdout.write(completionScript(shell));
        return await Promise.resolve(0);
      }),
    );
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action((words: readonly string[]) =>
      runner(async () => {
        for (const answer of completions(program, words)) host.stdout.write(`${answer}\n`);
        return await Promise.resolve(0);
      }),
    );
}
