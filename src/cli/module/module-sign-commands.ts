import { fieldsOf } from '@addon-operator/json';
import type { Command } from 'commander';
import { SETTINGS } from '../../settings.ts';
import type { CommandParts } from '../daemon/debug-command.ts';
import { addSettingOption, givenFlags } from '../operator/setting-options.ts';
import { chosenByCommand, outputOption } from '../output/output-format.ts';

const WHICH = 'module names or paths; default: all modules in the modules directories';

/** Adds `module sign`, `module verify` and `module digest`, which work on files and need no daemon. */
export function addSignCommands(module: Command, { host, runner }: CommandParts): void {
  const sign = module
    .command('sign')
    .description('Write and sign the manifests of modules, for --auth-policy keyring')
    .argument('[module...]', WHICH)
    .option(
      '--key <file>',
      'private key without a passphrase; without this flag only the manifest is written',
    )
    .option(
      '--serial <number>',
      'serial number of the manifests; default: the current time, or the next number',
    );
  addSettingOption(sign, SETTINGS.modulesDirs);
  sign.action(() =>
    runner(async () => {
      const { signCommand } = await import('./module-sign.ts');
      const { key, serial } = sign.opts<{ readonly key?: string; readonly serial?: string }>();
      return await signCommand({ flags: givenFlags(sign), modules: sign.args, key, serial }, host);
    }),
  );
  const verify = module
    .command('verify')
    .description('Check whether a daemon with this policy would run the modules')
    .argument('[module...]', WHICH)
    .addOption(outputOption({ initial: 'table' }))
    .addHelpText(
      'after',
      '\nExit code: 0 all modules are authorized, 1 some are not. Serial numbers are not checked: only the daemon knows which ones it has seen.',
    );
  for (const setting of [
    SETTINGS.modulesDirs,
    SETTINGS.authPolicy,
    SETTINGS.authLockFile,
    SETTINGS.authKeyring,
  ])
    addSettingOption(verify, setting);
  verify.action(() =>
    runner(async () => {
      const { verifyCommand } = await import('./module-sign-verify.ts');
      const { fieldOfEach, inFormat } = await import('../output/data-format.ts');
      return await inFormat(
        chosenByCommand(verify),
        host,
        (data) => fieldOfEach(data, 'module'),
        async (format, output) =>
          await verifyCommand({ flags: givenFlags(verify), modules: verify.args, format }, output),
      );
    }),
  );
  const digest = module
    .command('digest')
    .description('Print the digests of modules, for --auth-policy digest')
    .argument('[module...]', WHICH)
    .option('-w, --write', 'write them to the lock file; without names, all other entries are removed')
    .addOption(outputOption({ initial: 'table' }));
  for (const setting of [SETTINGS.modulesDirs, SETTINGS.authLockFile]) addSettingOption(digest, setting);
  digest.action(() =>
    runner(async () => {
      const { digestCommand } = await import('./module-sign-digest.ts');
      const isWriting = digest.opts()['write'] === true;
      const { inFormat } = await import('../output/data-format.ts');
      return await inFormat(
        chosenByCommand(digest),
        host,
        (data) => Object.keys(fieldsOf(data)),
        async (format, output) =>
          await digestCommand({ flags: givenFlags(digest), modules: digest.args, format, isWriting }, output),
      );
    }),
  );
}
