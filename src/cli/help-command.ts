import { didYouMean } from '@addon-operator/json/similar-word';
import type { Command } from 'commander';
import type { CommandParts } from './daemon/debug-command.ts';
import { helpWithAllFlags } from './operator/setting-options.ts';

/** Adds `help`, which takes the words of a command, or `flags` for the flags of `start`. Must be added last. */
export function addHelpCommand(program: Command, { host }: CommandParts): void {
  const help = program
    .command('help')
    .summary('Show help on a command, or on `flags`')
    .description('Show help on a command; `help flags` lists the flags of `start`')
    .argument('[command...]', 'such as: module list')
    .action((words: readonly string[]) => {
      const [first] = words;
      let command = program;
      for (const word of first === 'flags' ? ['start'] : words) {
        const names = command.commands.map((sub) => sub.name());
        const next = command.commands.find((sub) => sub.name() === word);
        if (next === undefined) help.error(`error: unknown command '${word}'${didYouMean(word, names)}`);
        else command = next;
      }
      host.stdout.write(first === 'flags' ? helpWithAllFlags(command) : command.helpInformation());
    });
}
