import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { type Command, Option } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { fail } from '../cli-host.ts';
import { type CommandParts, socketPathOf } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';
import { addSettingOption } from '../operator/setting-options.ts';

const STATUSES = ['ready', 'disabled', 'paused', 'failing'];

/** Adds `wait module`. */
export function addWaitCommand(program: Command, { host, runner }: CommandParts): void {
  const wait = program
    .command('wait')
    .summary('Wait until a module is ready')
    .description('Wait until something has a status');
  const module = wait
    .command('module')
    .description('Wait until a module has a status; the operator may start in the meantime')
    .addArgument(nameArgument('module', '<name>', 'name of the module'))
    .addOption(new Option('--for <status>', 'the status to wait for').choices(STATUSES).default('ready'))
    .option('--timeout <duration>', 'how long to wait, such as 90s', '5m')
    .addHelpText('after', '\nExit code: 0 the module has the status, 1 the time limit expired first.');
  addSettingOption(module, SETTINGS.debugUnixSocket);
  module.action((name: string) =>
    runner(async () => {
      const options: Readonly<Record<string, unknown>> = module.opts();
      const timeout = String(options['timeout']);
      const timeoutMs = parseGoDuration(timeout);
      if (timeoutMs === undefined || timeoutMs < 0)
        return fail(
          host,
          `cannot read the duration "${timeout}": use one such as 90s or 5m`,
          'REQUEST_INVALID',
        );
      const { waitForModule } = await import('./wait-for-module.ts');
      const { isStandby } = await import('./standby-advice.ts');
      const socket = {
        socketPath: (): Promise<string> => socketPathOf(module, host),
        isStandby: (): Promise<boolean> => isStandby(host),
      };
      return await waitForModule({ name, wanted: String(options['for']), timeoutMs }, socket, host);
    }),
  );
}
