import { Argument, type Command, type Option } from 'commander';
import type { CommandParts } from './daemon/debug-command.ts';
import { type NameKind, nameKindOf } from './name-arguments.ts';
import { isAccepted } from './operator/setting-options.ts';
import { readRemoteCommand } from './remote/remote-arguments.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof SHELLS)[number];

/**
 * Candidates for the last word of a command line, sorted: subcommands, names that the running operator knows,
 * options that begin as it does, or values of the option before it. Empty where only the user knows, such as for
 * paths; then shells offer files.
 *
 * @param line what follows the name of the program, the word to be completed as the last one
 * @param namesOf names that the running operator knows
 */
async function completions(
  program: Command,
  line: readonly string[],
  namesOf: (kind: NameKind) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const words = joinedAtEquals(line);
  const [, flag = '', value] = /^(--[^=]+)=(.*)$/s.exec(words.at(-1) ?? '') ?? [];
  if (value !== undefined) {
    const found = await completions(program, [...words.slice(0, -1), flag, value], namesOf);
    // A shell that breaks words there completes what is behind.
    return words.length < line.length ? found : found.map((word) => `${flag}=${word}`);
  }
  const before = words.slice(0, -1);
  const word = words.at(-1) ?? '';
  const command = commandOf(program, before);
  const previous = before.at(-1);
  const option = previous === undefined ? undefined : optionOf(command, previous);
  if (option?.argChoices !== undefined) return beginning(option.argChoices, word);
  if (option?.required === true) {
    const kind = nameKindOf(option);
    return kind === undefined ? [] : beginning(await namesOf(kind), word);
  }
  if (word.startsWith('-')) return beginning(optionsOf(command), word);
  const names = command.commands.flatMap((sub) => (isShown(command, sub) ? [sub.name()] : []));
  const argument = argumentAt(command, operandCount(program, before));
  const kind = argument && nameKindOf(argument);
  return beginning(kind === undefined ? names : await namesOf(kind), word);
}

/** bash makes three words of `--flag=value`. */
function joinedAtEquals(line: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (const [index, word] of line.entries()) {
    const last = words.at(-1);
    const isBehind = word === '=' || line[index - 1] === '=';
    if (isBehind && last?.startsWith('--') === true) words[words.length - 1] = last + word;
    else words.push(word);
  }
  return words;
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ long, short }) => long === word || short === word);
}

/** How many words are arguments of the command, rather than its name, options or their values. */
function operandCount(program: Command, words: readonly string[]): number {
  let command = program;
  let count = 0;
  for (const [index, word] of words.entries()) {
    const sub = command.commands.find((one) => one.name() === word);
    const isValue = optionOf(command, words[index - 1] ?? '')?.required === true;
    if (sub !== undefined && count === 0) command = sub;
    else if (!word.startsWith('-') && !isValue) count += 1;
  }
  return count;
}

function argumentAt({ registeredArguments: known }: Command, index: number): Argument | undefined {
  const last = known.at(-1);
  return known[index] ?? (last?.variadic === true ? last : undefined);
}

function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) command = command.commands.find((sub) => sub.name() === word) ?? command;
  return command;
}

function isShown(command: Command, sub: Command): boolean {
  return command.createHelp().visibleCommands(command).includes(sub);
}

function optionsOf(command: Command): readonly string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .concat(command.options.filter((option) => option.hidden && isAccepted(option)))
    .flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
}

function beginning(words: readonly string[], start: string): readonly string[] {
  return words.filter((word) => word.startsWith(start)).toSorted();
}

/** A script for a shell that calls the program itself for the possible next words. */
function completionScript(shell: Shell): string {
  switch (shell) {
    case 'bash':
      return `_addon_operator() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _addon_operator addon-operator
`;
    case 'zsh':
      return `#compdef addon-operator
_addon_operator() {
  local -a answers
  answers=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  answers=(\${answers:#})
  if (( \${#answers} )); then compadd -- "\${answers[@]}"; else _files; fi
}
compdef _addon_operator addon-operator
`;
    case 'fish':
      return `function __addon_operator_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c addon-operator -a '(__addon_operator_complete)'
`;
    case 'powershell':
      return `Register-ArgumentCompleter -Native -CommandName addon-operator -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -eq '') { $words += '' }
  & addon-operator __complete -- @words | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
  }
}

/** Adds `completion`, and the hidden command that its scripts call. Must be added last: it completes the commands that exist. */
export function addCompletionCommand(program: Command, { host, runner }: CommandParts): void {
  program
    .command('completion')
    .summary('Print a completion script for a shell')
    .description('Print a script for a shell that completes commands, flags and names')
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
        // Flags in front of a command name the cluster whose names are offered.
        const remote = readRemoteCommand(words, host);
        const found = await completions(program, remote?.args ?? words, async (kind) => {
          const { knownNames } = await import('./known-names.ts');
          if (remote === undefined) return await knownNames(kind, host);
          const { openRemote } = await import('./remote/open-remote.ts');
          await using operator = await openRemote(remote.target, host);
          return await knownNames(kind, operator.host);
        });
        for (const word of found) host.stdout.write(`${word}\n`);
        return 0;
      }),
    );
}
