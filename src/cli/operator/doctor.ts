import { fieldsOf } from '@addon-operator/json';
import type { Command } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import { chosenByCommand, outputOption } from '../output/output-format.ts';
import { addSettingOptions, givenFlags } from './setting-options.ts';

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
  addSettingOptions(doctor);
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
