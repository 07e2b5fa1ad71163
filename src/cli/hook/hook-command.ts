import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { addDebugCommand, type CommandParts, formatOf } from '../daemon/debug-command.ts';
import { addHookNewCommand } from '../module/author-commands.ts';
import { nameArgument, nameOption } from '../name-arguments.ts';
import { addRecordingCommands } from './hook-recording-commands.ts';
import type { HookTrialOptions } from './hook-trial.ts';

/** Adds the commands about one hook. */
export function addHookCommand(program: Command, parts: CommandParts): void {
  const hook = program
    .command('hook')
    .summary('Write, try, test, run and stop hooks')
    .description('Write, try and test hooks without a cluster, run or stop one of a running operator');
  addDebugCommand(
    hook,
    {
      name: 'list',
      description: 'List the hooks of the running operator, with MODULE/ in front of those of modules',
      output: { initial: 'table', table: async () => (await import('../output/tables.ts')).hooksTable },
    },
    (_args, options) => ({ path: `/hook/list.${formatOf(options)}` }),
    parts,
  );
  addHookNewCommand(hook, parts);
  addTrialCommands(hook, parts);
  addTestCommand(hook, parts);
  addDebugCommand(
    hook,
    { name: 'abort', description: 'Stop a running hook; its task is retried as after a failure' },
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
    .addOption(nameOption('queue', '--queue <name>', 'only its run in this queue'))
    .option('--drop', 'drop the task of an event or a schedule instead of retrying it');
  addDebugCommand(
    hook,
    { name: 'trigger', description: 'Run a hook of the running operator once, in the queue of the binding' },
    ([name = '', binding = ''], { object }) => ({
      path: '/hook/trigger',
      form: { hook: name, binding, ...(typeof object === 'string' && { object }) },
    }),
    parts,
  )
    .addArgument(nameArgument('hook', '<name>', 'name of the hook; MODULE/NAME if several have it'))
    .argument('<binding>', 'name of a kubernetes or schedule binding, or onStartup')
    .option(
      '--object <kind/namespace/name>',
      'the event of this object, for a kubernetes binding; default: its Synchronization',
    );
  addRecordingCommands(hook, parts);
}

interface TestFlags {
  readonly color: boolean;
  readonly output: 'text' | 'junit' | 'tap' | 'github';
  readonly filter?: string;
  readonly report?: readonly string[];
  readonly update?: true;
  readonly watch?: true;
  readonly coverage?: true | string;
  readonly jobs?: string;
  readonly globalHooksDir?: string;
  readonly wrap?: string;
}

const EVENTS = ['Added', 'Modified', 'Deleted'] as const;

/** Adds the commands that run or show a hook of a file. */
function addTrialCommands(hook: Command, { host, runner }: CommandParts): void {
  const run = hook
    .command('run')
    .summary('Run a hook on a sandbox and show what it would change')
    .description(
      'Run a hook on a Kubernetes API that lasts for the command, or on a cluster to which nothing is written, and show what it prints and would change. Without --binding it runs as at its start: onStartup, then the Synchronization of its kubernetes bindings',
    );
  addTrialOptions(run)
    .option('--kube-context <name>', 'the cluster of this context instead of a sandbox; nothing is written')
    .option('--apply', 'with --kube-context: apply the changes that the hook writes')
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices(['text', 'json']).default('text'),
    )
    .option('--no-color', 'no colours on a terminal')
    .addHelpText('after', '\nExit code: 0 the hook succeeded, 1 it failed or cannot be run.')
    .action((path: string) =>
      runner(async () => {
        const { hookRunCommand } = await import('./hook-run-command.ts');
        const { output, color } = run.opts<{ readonly output: 'text' | 'json'; readonly color: boolean }>();
        return await hookRunCommand({ ...trialOptions(path, run), format: output, hasColor: color }, host);
      }),
    );
  const contexts = hook
    .command('contexts')
    .summary('Print the binding contexts that a hook would get')
    .description(
      'Print the binding contexts that `hook run` would give the hook, as JSON, without running it',
    );
  addTrialOptions(contexts).action((path: string) =>
    runner(async () => {
      const { hookContextsCommand } = await import('./hook-run-command.ts');
      return await hookContextsCommand(trialOptions(path, contexts), host);
    }),
  );
  hook
    .command('config')
    .summary('Print the configuration of a hook')
    .description(
      'Print the configuration of a hook as the operator understands it, as JSON with all defaults',
    )
    .argument('<file>', 'file of the hook; FILE:NAME:INDEX or FILE:INDEX of a file with several hooks')
    .action((path: string) =>
      runner(async () => {
        const { hookConfigCommand } = await import('./hook-run-command.ts');
        return await hookConfigCommand({ hook: path }, host);
      }),
    );
}

/** Adds `hook test`. */
function addTestCommand(hook: Command, { host, runner }: CommandParts): void {
  const test = hook
    .command('test')
    .summary('Run the tests of hooks')
    .description(
      'Run the tests in files *.hook-test.yaml, each case on a Kubernetes API of its own in memory, with a virtual clock',
    )
    .argument('[paths...]', 'files with tests, or directories with such files below them (default: .)')
    .option('--global-hooks-dir <path>', 'also the tests beside this directory of hooks')
    .option('--filter <text>', 'only cases whose names contain this, or match /REGEXP/')
    .option(
      '--report <FORMAT=FILE>',
      'also write a report (junit, tap, github) to a file; may be given several times',
      (given: string, others: readonly string[]) => [...others, given],
      [],
    )
    .option('--update', 'store snapshots instead of comparing them')
    .option(
      '--coverage [min:PERCENT]',
      'report for which bindings and events no test has run a hook; with min:80 less than 80 % fails',
    )
    .option(
      '--jobs <number>',
      'how many hooks are tested at the same time; default: as many as there are processors, 1 with --wrap',
    )
    .option(
      '--wrap <command>',
      'command that starts hooks that are executables, such as "kcov out" for their coverage',
    )
    .option('--watch', 'run the tests again after each change of a file, failed ones first')
    .addOption(
      new Option('-o, --output <format>', 'format of the output')
        .choices(['text', 'junit', 'tap', 'github'])
        .default('text'),
    )
    .option('--no-color', 'no colours on a terminal')
    .addHelpText(
      'after',
      '\nExit code: 0 all tests passed, 1 a test failed, 2 a file with tests cannot be used.',
    )
    .action((paths: readonly string[]) =>
      runner(async () => {
        const { hookTestCommand } = await import('./hook-test-command.ts');
        const {
          color,
          output,
          update = false,
          watch = false,
          globalHooksDir,
          ...given
        } = test.opts<TestFlags>();
        const chosen = { isUpdate: update, isWatch: watch };
        const all = [...paths, ...(globalHooksDir === undefined ? [] : [dirname(globalHooksDir)])];
        const options = {
          ...given,
          ...chosen,
          paths: all.length === 0 ? ['.'] : all,
          format: output,
          hasColor: color,
        };
        return await hookTestCommand(options, host);
      }),
    );
}

function addTrialOptions(command: Command): Command {
  return command
    .argument('<file>', 'file of the hook; FILE:NAME:INDEX or FILE:INDEX of a file with several hooks')
    .option(
      '--binding <name>',
      'only this binding, such as beforeHelm, or the name of a kubernetes or schedule binding',
    )
    .addOption(new Option('--event <type>', 'what happens to the object of --object').choices(EVENTS))
    .option('--object <file>', 'file with the object that is added, modified or deleted')
    .option('--cluster <path>', 'file or directory with objects that exist; may be repeated', appended)
    .option(
      '--values <file>',
      'values, as the ConfigMap of the operator has them: a key for each module, and global',
    );
}

function trialOptions(hook: string, command: Command): HookTrialOptions {
  const { cluster = [], ...given } = command.opts<
    Omit<HookTrialOptions, 'hook' | 'cluster'> & { readonly cluster?: readonly string[] }
  >();
  return { ...given, hook, cluster };
}

function appended(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, path];
}
