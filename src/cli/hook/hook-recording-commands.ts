import { type Command, Option } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { type CommandParts, socketPathOf } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import type { HookRecordOptions } from './hook-record-command.ts';

interface RecordFlags extends Pick<HookRecordOptions, 'runs' | 'for' | 'asTest'> {
  readonly out?: string;
  readonly output?: string;
  readonly withSecrets?: true;
  readonly failed?: true;
}

interface ReplayFlags {
  readonly color: boolean;
  readonly output: 'text' | 'json';
  readonly hook?: string;
  readonly timeout: string;
}

const RECORDINGS = 'recordings';

/** Adds `hook record` and `hook replay`. */
export function addRecordingCommands(hook: Command, parts: CommandParts): void {
  addRecordCommand(hook, parts);
  addReplayCommand(hook, parts);
}

function addRecordCommand(hook: Command, { host, runner }: CommandParts): void {
  const record = hook
    .command('record')
    .summary('Record runs of hooks of the running operator')
    .description(
      'Record runs of hooks of the running operator: what they are given and what they write, with secrets masked, in one file for each run',
    )
    .addArgument(nameArgument('hook', '[hooks...]', 'names of hooks; default: all'))
    .option('--runs <number>', 'end after so many runs; default: 20, without a limit if --for is given')
    .option('--for <duration>', 'end after this time, such as 10m')
    .option('--out <directory>', `directory for the recordings (default: ${RECORDINGS})`)
    // Its name before `-o` became the format of the output everywhere.
    .addOption(new Option('-o, --output <directory>').hideHelp())
    .option('--as-test <file>', 'also write a test for `hook test` that repeats the last run')
    .option('--with-secrets', 'do not mask secrets')
    .option(
      '--failed',
      'instead the last runs that failed, which an operator that was started with --record-failed has kept',
    );
  addSettingOption(record, SETTINGS.debugUnixSocket);
  record.action((hooks: readonly string[]) =>
    runner(async () => {
      const { hookRecordCommand } = await import('./hook-record-command.ts');
      const { out, output, withSecrets = false, failed = false, ...limits } = record.opts<RecordFlags>();
      const directory = out ?? output ?? RECORDINGS;
      const options = { ...limits, hooks, directory, hasSecrets: withSecrets, isFailed: failed };
      return await hookRecordCommand(await socketPathOf(record, host), options, host);
    }),
  );
}

function addReplayCommand(hook: Command, { host, runner }: CommandParts): void {
  const replay = hook
    .command('replay')
    .summary('Run hooks with the input of recorded runs and compare')
    .description(
      'Run hooks, as they are in the working copy, with the input of runs that `hook record` recorded, and show where they write anything else. Nothing that they write is applied',
    )
    .argument('[paths...]', 'recordings, or directories of them', [RECORDINGS])
    .option('--hook <file>', 'file of the hook to run; default: the hook with the name in each recording')
    .option('--timeout <duration>', 'time limit of one run, if the hook sets none', '1m')
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices(['text', 'json']).default('text'),
    )
    .option('--no-color', 'no colours on a terminal')
    .addHelpText(
      'after',
      '\nExit code: 0 all runs came to the same, 1 one did not, 2 a recording cannot be used.',
    );
  addSettingOption(replay, SETTINGS.modulesDirs);
  addSettingOption(replay, SETTINGS.globalHooksDir);
  replay.action((paths: readonly string[]) =>
    runner(async () => {
      const { hookReplayCommand } = await import('./hook-replay-command.ts');
      const { color, output, ...given } = replay.opts<ReplayFlags>();
      const flags = givenFlags(replay);
      return await hookReplayCommand({ ...given, paths, format: output, hasColor: color, flags }, host);
    }),
  );
}
