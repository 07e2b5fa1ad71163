import type { Command } from 'commander';
import { addDebugCommand, type CommandParts } from './debug-command.ts';
import { nameArgument } from './name-arguments.ts';

/** Adds `hook abort`. */
export function addHookCommand(program: Command, parts: CommandParts): void {
  const hook = program.command('hook').description('Stop hooks that run');
  addDebugCommand(
    hook,
    { name: 'abort', description: 'Stop a hook that runs; its task is retried as after a failure' },
    ([name = ''], options) => ({
      path: '/hook/abort',
      form: {
        hook: name,
        queue: typeof options['queue'] === 'string' ? options['queue'] : '',
        drop: String(options['drop'] === true),
      },
    }),
    parts,
  )
    .addArgument(nameArgument('running hook', '<name>', 'name of the hook; MODULE/NAME if several have it'))
    .option('--queue <name>', 'only its run in this queue')
    .option('--drop', 'drop the task of an event or a schedule instead of retrying it');
}
