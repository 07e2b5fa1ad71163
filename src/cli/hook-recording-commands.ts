import type { Command } from 'commander';
import { SETTINGS } from '../settings.ts';
import { type CommandParts, socketPathOf } from './debug-command.ts';
import type { HookRecordOptions } from './hook-record-command.ts';
import { nameArgument } from './name-arguments.ts';
import { addSettingOption } from './setting-options.ts';

interface RecordFlags extends Pick<HookRecordOptions, 'runs' | 'for' | 'asTest'> {
  readonly output: string;
  readonly withSecrets?: true;
}

/** Adds `hook record`. */
export function addRecordingCommands(hook: Command, { host, runner }: CommandParts): void {
  const record = hook
    .command('record')
    .summary('Record runs of hooks of the running operator')
    .description(
      'Record runs of hooks of the running operator: what they are given and what they write, with secrets masked, in one file for each run',
    )
    .addArgument(nameArgument('hook', '[hooks...]', 'names of hooks; default: all'))
    .option('--runs <number>', 'end after so many runs; default: 20, without a limit if --for is given')
    .option('--for <duration>', 'end after this time, such as 10m')
    .option('-o, --output <directory>', 'directory for the recordings', 'recordings')
    .option('--as-test <file>', 'also write a test for `hook test` that repeats the last run')
    .option('--with-secrets', 'do not mask secrets');
  addSettingOption(record, SETTINGS.debugUnixSocket);
  record.action((hooks: readonly string[]) =>
    runner(async () => {
      const { hookRecordCommand } = await import('./hook-record-command.ts');
      const { output, withSecrets = false, ...limits } = record.opts<RecordFlags>();
      const options = { ...limits, hooks, directory: output, hasSecrets: withSecrets };
      return await hookRecordCommand(await socketPathOf(record, host), options, host);
    }),
  );
}
