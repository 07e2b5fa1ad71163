import { type Command, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import type { CommandRunner } from '../daemon/debug-command.ts';
import { addSettingOptions, givenFlags } from './setting-options.ts';

/** Adds `uninstall`. */
export function addUninstallCommand(
  program: Command,
  { host, runner }: { readonly host: CliHost; readonly runner: CommandRunner },
): void {
  const uninstall = program
    // Run by the chart, and from its documentation.
    .command('uninstall', { hidden: true })
    .summary('Remove the webhooks of an operator from the cluster')
    .description(
      'Remove what would refuse requests when the operator is gone: its webhook configurations, and its conversions of CRDs. Modules, releases, CRDs and objects stay.',
    )
    .addOption(
      new Option('--webhooks', 'remove webhook configurations and conversions').makeOptionMandatory(),
    )
    .option(
      '--stop-deployment <name>',
      'first scale this Deployment of the operator to 0: an operator that runs registers its webhooks again',
    );
  addSettingOptions(uninstall);
  uninstall.action(() =>
    runner(async () => {
      const { stopDeployment } = uninstall.opts<{ readonly stopDeployment?: string }>();
      const { uninstallWebhooks } = await import('./uninstall-webhooks.ts');
      return await uninstallWebhooks(givenFlags(uninstall), stopDeployment, host);
    }),
  );
}
