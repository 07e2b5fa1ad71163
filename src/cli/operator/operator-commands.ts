import { fieldsOf } from '@addon-operator/json';
import { type Command, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import type { CommandParts, CommandRunner } from '../daemon/debug-command.ts';
import { chosenByCommand, outputOption } from '../output/output-format.ts';
import { addSettingOptions, givenFlags, RUNNING_FLAGS } from './setting-options.ts';

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, { host, runner }: CommandParts): void {
  const doctor = program
    .command('doctor')
    .summary('Say what is wrong, and the command that fixes it')
    .description(
      'Say what is wrong with settings, machine, modules, cluster and a running operator, each with the command that fixes it; nothing when all is well',
    )
    .option('--bundle <file>', 'also write an archive for a bug report, without secrets')
    .addOption(outputOption({ initial: 'table' }))
    .addHelpText('after', '\nExit code: 0 all is well, 1 something is wrong.');
  addSettingOptions(doctor, { hidden: RUNNING_FLAGS });
  doctor.action(() =>
    runner(async () => {
      const { doctorCommand } = await import('./doctor-command.ts');
      const { fieldOfEach, inFormat } = await import('../output/data-format.ts');
      const { bundle } = doctor.opts<{ readonly bundle?: string }>();
      return await inFormat(
        chosenByCommand(doctor),
        host,
        (data) => fieldOfEach(fieldsOf(data)['findings'], 'code'),
        async (format, output) =>
          await doctorCommand(
            { flags: givenFlags(doctor), format, ...(bundle !== undefined && { bundle }) },
            output,
          ),
      );
    }),
  );
}

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
  addSettingOptions(uninstall, { hidden: RUNNING_FLAGS });
  uninstall.action(() =>
    runner(async () => {
      const { stopDeployment } = uninstall.opts<{ readonly stopDeployment?: string }>();
      const { uninstallWebhooks } = await import('./uninstall-webhooks.ts');
      return await uninstallWebhooks(givenFlags(uninstall), stopDeployment, host);
    }),
  );
}
