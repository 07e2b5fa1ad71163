import { codeOf, hasCode, messageOf } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import { Command, CommanderError, Help, Option } from 'commander';
import type { Setting } from '../settings/setting.ts';
import { SETTINGS } from '../settings.ts';
import { type CliHost, fail, printCode } from './cli-host.ts';
import { addCompletionCommand } from './completion.ts';
import { addDebugCommand, type CommandParts, type CommandRunner } from './daemon/debug-command.ts';
import { addMcpCommand } from './daemon/mcp-commands.ts';
import { addLogsCommand, addRunsCommands, addTraceCommand } from './daemon/runs-commands.ts';
import { addConfigCommand, addGlobalCommand, addQueueCommand } from './daemon/socket-commands.ts';
import {
  addDebugPipeCommand,
  addEventsCommand,
  addStatusCommand,
  addUiCommand,
} from './daemon/status-commands.ts';
import { harmless } from './harmless.ts';
import { addHelpCommand } from './help-command.ts';
import { addHookCommand } from './hook/hook-command.ts';
import { addExplainCommand, addModuleCommand } from './module/module-command.ts';
import { addPauseCommands } from './module/pause-commands.ts';
import { addWaitCommand } from './module/wait-command.ts';
import { nameArgument } from './name-arguments.ts';
import { addDoctorCommand, addUninstallCommand } from './operator/operator-commands.ts';
import {
  addSettingOptions,
  givenFlags,
  RUNNING_FLAGS,
  settingHelp,
  withBooleanValues,
} from './operator/setting-options.ts';
import { chosenByCommand, OUTPUT_FORMATS, type OutputFormat, outputOption } from './output/output-format.ts';
import { readRemoteCommand, remoteProblem } from './remote/remote-arguments.ts';
import { addDevCommand, addSandboxCommand } from './sandbox/sandbox-commands.ts';

/**
 * Runs the command that the arguments name, `start` without one, and returns the exit code: 1 for wrong usage, a wrong
 * setting or a failed command. Each command loads its code only when it is chosen.
 */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const remote = readRemoteCommand(args, host);
  if (remote === undefined) return await runCommand(args, host);
  const { openRemote } = await import('./remote/open-remote.ts');
  await using operator = await openRemote(remote.target, host);
  return await runCommand(remote.args, operator.host);
}

async function runCommand(args: readonly string[], host: CliHost): Promise<number> {
  let exitCode = 0;
  const runner: CommandRunner = async (run) => {
    exitCode = await run();
  };
  const program = createProgram(host, runner, args[0]);
  try {
    await program.parseAsync(withBooleanValues(args), { from: 'user' });
    return exitCode;
  } catch (caught) {
    if (caught instanceof CommanderError) return caught.exitCode;
    const error = host.remote === undefined ? caught : remoteProblem(caught, host.remote);
    if (hasCode(error, 'DEBUG_SOCKET')) await adviseOnStandby(args, host);
    if (!hasCode(error, 'CONFIG_INVALID')) return fail(host, messageOf(error), codeOf(error));
    for (const problem of error.message.split('\n'))
      host.stderr.write(`configuration error: ${harmless(problem)}\n`);
    printCode(host, error.code);
    return 1;
  }
}

/** A command in the pod of a standby finds no socket; the variable keeps all others from looking for a leader. */
async function adviseOnStandby(args: readonly string[], host: CliHost): Promise<void> {
  if (host.env['ADDON_OPERATOR_HA'] !== 'true') return;
  const { standbyAdvice } = await import('./module/standby-advice.ts');
  const advice = await standbyAdvice(args, host);
  if (advice !== undefined) host.stderr.write(`${harmless(advice)}\n`);
}

/** The flags of `start` are accepted without the word, but its help is the place to read about them. */
class CommandList extends Help {
  override visibleOptions(): Option[] {
    return [];
  }

  override subcommandTerm(command: Command): string {
    return command.name();
  }
}

function formatCommands(program: Command, { helpWidth }: Help): string {
  const help = new CommandList();
  help.prepareContext({ ...(helpWidth !== undefined && { helpWidth }) });
  return help.formatHelp(program, help);
}

const ROOT_OPTIONS = '\n--help after a command shows its options; "help flags" shows all flags of start.';

type AddCommand = (program: Command, parts: CommandParts) => void;

/** The commands by the heading they have in the help; each entry adds the commands of these names. */
const COMMANDS: readonly (readonly [
  heading: string,
  commands: readonly (readonly [names: string, add: AddCommand])[],
])[] = [
  [
    'Run:',
    [
      ['start', (program, parts) => addStart(program, program.command('start'), parts)],
      ['sandbox', addSandboxCommand],
      ['plan', addPlanCommand],
      ['rbac', addRbacCommand],
    ],
  ],
  [
    'Look at a running operator:',
    [
      ['status', addStatusCommand],
      ['doctor', addDoctorCommand],
      ['explain', addExplainCommand],
      ['module', addModuleCommand],
      ['queue', addQueueCommand],
      ['global', addGlobalCommand],
      ['runs next', addRunsCommands],
      ['trace', addTraceCommand],
      ['logs', addLogsCommand],
      ['events', addEventsCommand],
      ['wait', addWaitCommand],
      ['ui', addUiCommand],
      ['mcp', addMcpCommand],
    ],
  ],
  [
    'Change a running operator:',
    [
      ['config', addConfigCommand],
      ['pause resume', addPauseCommands],
    ],
  ],
  [
    'Write hooks and modules:',
    [
      ['hook', addHookCommand],
      ['dev', addDevCommand],
    ],
  ],
  [
    'Other:',
    [
      ['uninstall', addUninstallCommand],
      ['raw', addRawCommand],
      ['debug-options', addDebugOptionsCommand],
      ['debug-pipe', addDebugPipeCommand],
      ['completion __complete', addCompletionCommand],
      ['version', addVersionCommand],
      ['help', addHelpCommand],
    ],
  ],
];

/** Commands that look at all others. */
const NEED_ALL = ['completion', '__complete', 'help'];

/**
 * All commands, or only one: most of the work is options of commands that are not called. An action passes its work to
 * `runner`.
 *
 * @param called the first argument; another word than the name of a command adds all of them
 */
export function createProgram(host: CliHost, runner: CommandRunner, called = ''): Command {
  const program = new Command('addon-operator')
    .description('Run hooks and deploy Helm charts when files, objects or schedules require it.')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      writeErr: (text) => void host.stderr.write(harmless(text)),
    })
    .usage('[command] [options]')
    .argument('[command...]')
    .option('--version', 'show the version')
    .addHelpText('after', ROOT_OPTIONS)
    .helpCommand(false);
  const parts = { host, runner };
  const isCalled = (names: string): boolean => names.split(' ').includes(called);
  const isKnown =
    !NEED_ALL.includes(called) &&
    COMMANDS.some(([, commands]) => commands.some(([names]) => isCalled(names)));
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const [names, add] of commands) if (!isKnown || isCalled(names)) add(program, parts);
  }
  if (!isKnown) addStart(program, program, parts);
  // Last, because commands take over what is configured when they are added.
  program.configureHelp({ formatHelp: formatCommands });
  addHints(program, 'addon-operator');
  return program;
}

/** Wrong usage leads to the help of the command that was meant. */
function addHints(command: Command, words: string): void {
  const what = command.commands.length === 0 ? 'shows how to use it' : 'lists the commands';
  command.showHelpAfterError(`(${words} --help ${what})`);
  for (const sub of command.commands) addHints(sub, `${words} ${sub.name()}`);
}

async function printVersion(host: CliHost): Promise<number> {
  const { readVersion } = await import('./version.ts');
  host.stdout.write(`addon-operator ${readVersion()}\n`);
  return 0;
}

/**
 * The flags of `start` are accepted with and without the word.
 *
 * @param command gets the flags: `start`, or the program itself
 */
function addStart(program: Command, command: Command, { host, runner }: CommandParts): void {
  if (command !== program) command.description('Run the daemon (the default)');
  addSettingOptions(command);
  command.action(() =>
    runner(async () => {
      if (command.opts()['version'] === true) return await printVersion(host);
      const [unknown] = command.args;
      if (unknown !== undefined) {
        const all = createProgram(host, runner);
        const names = all
          .createHelp()
          .visibleCommands(all)
          .map((other) => other.name());
        command.error(`error: unknown command '${unknown}'${didYouMean(unknown, names)}`);
      }
      const { startCommand } = await import('./operator/start-command.ts');
      return await startCommand(givenFlags(command), host);
    }),
  );
}

function addRawCommand(program: Command, parts: CommandParts): void {
  addDebugCommand(
    program,
    { name: 'raw', description: 'Send a request to a path of the debug endpoint' },
    ([path = '']) => ({ path: path.startsWith('/') ? path : `/${path}` }),
    parts,
  ).argument('<urlpath>', 'such as /queue/main.json');
}

function addVersionCommand(program: Command, { host, runner }: CommandParts): void {
  program
    .command('version')
    .description('Show the version, like --version')
    .action(() => runner(() => printVersion(host)));
}

function addPlanCommand(program: Command, { host, runner }: CommandParts): void {
  const plan = program
    .command('plan')
    .summary('Show what a start would change')
    .description(
      'Show what the daemon would do with these directories and this cluster, without changing anything',
    )
    .addArgument(nameArgument('module', '[module...]', 'only these modules; default: all'))
    .addOption(outputOption({ initial: 'table' }))
    .option('--no-color', 'no colours on a terminal')
    .addHelpText(
      'after',
      '\nExit code: 0 nothing would change, 2 something would change, 1 the plan cannot be determined.',
    );
  addSettingOptions(plan, { hidden: RUNNING_FLAGS });
  plan.action(() =>
    runner(async () => {
      const { planCommand } = await import('./operator/plan-command.ts');
      const { color } = plan.opts<{ readonly color: boolean }>();
      const { fieldOfEach, inFormat } = await import('./output/data-format.ts');
      return await inFormat(
        chosenByCommand(plan),
        host,
        (data) => fieldOfEach(fieldsOf(data)['modules'], 'module'),
        async (format, output) =>
          await planCommand({ flags: givenFlags(plan), modules: plan.args, format, hasColor: color }, output),
      );
    }),
  );
}

function addRbacCommand(program: Command, { host, runner }: CommandParts): void {
  const rbac = program
    .command('rbac')
    .summary('Print the permissions that modules and hooks need')
    .description(
      'Print the minimal permissions that modules and global hooks need: a ClusterRole, and Roles where one namespace is enough',
    )
    .addArgument(
      nameArgument(
        'module',
        '[module...]',
        'only these modules; default: all modules in the modules directories',
      ),
    )
    .addOption(
      new Option('-o, --output <format>', 'format of the roles, or values for the chart in deploy/')
        .choices([...OUTPUT_FORMATS, 'values'])
        .default('yaml'),
    );
  addSettingOptions(rbac, { hidden: RUNNING_FLAGS });
  rbac.action(() =>
    runner(async () => {
      const { rbacCommand } = await import('./operator/rbac-command.ts');
      const { output } = rbac.opts<{ readonly output: OutputFormat | 'values' }>();
      return await rbacCommand({ flags: givenFlags(rbac), modules: rbac.args, format: output }, host);
    }),
  );
}

function addDebugOptionsCommand(program: Command, { host }: CommandParts): void {
  program
    .command('debug-options', { hidden: true })
    .description('List the debug flags of start')
    .action(() => {
      const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);
      for (const row of rows.filter(({ isHidden }) => isHidden === true))
        host.stdout.write(`--${row.flag}\n    ${settingHelp(row)}\n`);
    });
}
