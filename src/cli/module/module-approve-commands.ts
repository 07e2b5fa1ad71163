import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import { fail } from '../cli-host.ts';
import { addWatchOptions, type CommandParts, socketPathOf } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import { chosenByCommand, outputOption } from '../output/output-format.ts';

const CLUSTER_SETTINGS = [SETTINGS.kubeConfig, SETTINGS.kubeContext, SETTINGS.kubeServer];

interface VersionsFlags {
  readonly all?: boolean;
  readonly watch?: boolean;
  readonly watchInterval: string;
}

/** Adds `module approve`, `hold` and `unhold`, which write to the ModuleInstall, and `versions`. */
export function addApproveCommands(module: Command, { host, runner }: CommandParts): void {
  const add = (name: string, description: string): Command => {
    const command = module
      .command(name)
      .description(description)
      .addArgument(
        nameArgument('module', '<name>', 'name of the module, which is that of its ModuleInstall'),
      );
    for (const setting of CLUSTER_SETTINGS) addSettingOption(command, setting);
    return command;
  };
  const approve = add('approve', 'Approve a version of a module, by its digest')
    .argument('[version]', 'default: the version that waits')
    .option('--now', 'do not wait for a window of updates');
  approve.action((name: string, version: string | undefined) =>
    runner(async () => {
      const { approveVersion } = await import('./module-approve.ts');
      const request = { name, version, now: approve.opts()['now'] === true };
      return await approveVersion(request, givenFlags(approve), host);
    }),
  );
  const hold = add('hold', 'Keep a module at its version')
    .requiredOption('--reason <text>', 'why; module versions and the status show it')
    .option('--until <time>', 'date or time such as 2026-12-01; default: until module unhold');
  hold.action((name: string) =>
    runner(async () => {
      const { holdModule } = await import('./module-approve.ts');
      const { reason, until } = hold.opts<{ readonly reason: string; readonly until?: string }>();
      return await holdModule(name, { reason, until }, givenFlags(hold), host);
    }),
  );
  const unhold = add('unhold', 'End the hold of a module');
  unhold.action((name: string) =>
    runner(async () => {
      const { unholdModule } = await import('./module-approve.ts');
      return await unholdModule(name, givenFlags(unhold), host);
    }),
  );
  const versions = module
    .command('versions')
    .summary('Show the versions of modules, and why one waits')
    .description(
      'Show the wanted, installed and last good version of modules from sources, and why one waits; or what a registry has',
    )
    .argument('[name]', 'name of a module, or oci://REGISTRY/PATH of one; default: all modules from sources')
    .option('-a, --all', 'of a registry: all versions, not only the newest 20')
    .addOption(outputOption({ initial: 'table' }));
  addWatchOptions(versions);
  addSettingOption(versions, SETTINGS.debugUnixSocket);
  versions.action((name: string | undefined) =>
    runner(async () => {
      const format = chosenByCommand(versions);
      const { all, watch, watchInterval } = versions.opts<VersionsFlags>();
      if (/^[a-z-]+:\/\//u.test(name ?? '')) {
        if (watch === true) return fail(host, '-w is for modules of a running operator', 'REQUEST_INVALID');
        const { versionsCommand } = await import('./artifact-versions.ts');
        return await versionsCommand(name ?? '', { isAll: all === true, format }, host);
      }
      const { printVersions } = await import('./module-versions.ts');
      const request = { name, format, watchInterval: watch === true ? watchInterval : undefined };
      return await printVersions(request, await socketPathOf(versions, host), host);
    }),
  );
}
