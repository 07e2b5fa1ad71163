import type { Command } from 'commander';
import { SETTINGS } from '../settings.ts';
import { type CommandParts, textOrJson, textOrJsonOption } from './debug-command.ts';
import { addSettingOption, givenFlags } from './setting-options.ts';

const WHICH = 'names in the modules directories, or paths; without any all modules';

/** Adds `module sign`, `module verify` and `module digest`, which work on files and need no daemon. */
export function addSignCommands(module: Command, { host, runner }: CommandParts): void {
  const sign = module
    .command('sign')
    .description('Write and sign the manifests of modules, for --auth-policy keyring')
    .argument('[module...]', WHICH)
    .option('--key <file>', 'private key without passphrase; without it the manifest is written only')
    .option('--serial <number>', 'serial number of the manifests; by default the time, or the next number');
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
    .description('Say whether a daemon with this policy would let modules run')
    .argument('[module...]', WHICH)
    .addOption(textOrJsonOption())
    .addHelpText(
      'after',
      '\nExit code: 0 all of them are authorized, 1 some are not. Serial numbers that were seen before are known to the daemon only.',
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
      return await verifyCommand(
        { flags: givenFlags(verify), modules: verify.args, format: textOrJson(verify) },
        host,
      );
    }),
  );
  const digest = module
    .command('digest')
    .description('Print the digests of modules, for --auth-policy digest')
    .argument('[module...]', WHICH)
    .option('-w, --write', 'write them into the lock file; without names nothing else stays in it')
    .addOption(textOrJsonOption());
  for (const setting of [SETTINGS.modulesDirs, SETTINGS.authLockFile]) addSettingOption(digest, setting);
  digest.action(() =>
    runner(async () => {
      const { digestCommand } = await import('./module-sign-digest.ts');
      const isWriting = digest.opts()['write'] === true;
      return await digestCommand(
        { flags: givenFlags(digest), modules: digest.args, format: textOrJson(digest), isWriting },
        host,
      );
    }),
  );
}
