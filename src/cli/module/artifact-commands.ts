import type { Command } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import type { PackFlags, PullFlags, PushFlags } from './artifact-files.ts';

const REFERENCE = 'a version, such as oci://registry.example.com/platform/web:1.4.2';
const REPOSITORY = 'a repository, such as oci://registry.example.com/platform/web';

/** Adds `module pack`, `push`, `promote`, and `pull`, which need no daemon. */
export function addArtifactCommands(module: Command, { host, runner }: CommandParts): void {
  const pack = module
    .command('pack')
    .description('Pack a module as an archive, for module store add')
    .argument('<directory>', 'directory of the module')
    .option('--version <version>', 'version; default: that of module.yaml, or of Chart.yaml')
    .option('-f, --file <file>', 'the archive; default: NAME-VERSION.tgz')
    .action((directory: string) =>
      runner(async () => {
        const { packCommand } = await import('./artifact-files.ts');
        return await packCommand(directory, pack.opts<PackFlags>(), host);
      }),
    );
  const push = module
    .command('push')
    .summary('Push a module to a registry')
    .description('Push a module to a registry, or to an image layout directory')
    .argument('<directory>', 'directory of the module')
    .argument('<repository>', REPOSITORY)
    .option('--version <version>', 'version; default: that of module.yaml, or of Chart.yaml')
    .option('--channel <name...>', 'channels that name this version from now on')
    .option('--sign <key>', 'sign the module with this private key first, unless it did already')
    .addHelpText(
      'after',
      '\nEqual files have equal digests. A version that exists with other files is refused.',
    )
    .action((directory: string, repository: string) =>
      runner(async () => {
        const { pushCommand } = await import('./artifact-files.ts');
        return await pushCommand(directory, repository, push.opts<PushFlags>(), host);
      }),
    );
  module
    .command('promote')
    .description('Let a channel of a registry name a version')
    .argument('<reference>', REFERENCE)
    .argument('<channel>', 'name of the channel, such as stable')
    .action((reference: string, channel: string) =>
      runner(async () => {
        const { promoteCommand } = await import('./artifact-versions.ts');
        return await promoteCommand(reference, channel, host);
      }),
    );
  const pull = module
    .command('pull')
    .summary('Unpack a module from a registry')
    .description('Verify a module of a registry and unpack it into a new directory')
    .argument('<reference>', REFERENCE)
    .requiredOption('-o, --output <directory>', 'directory that does not exist yet, or is empty')
    .option('--keyring <file>', 'public SSH keys, one of which must have signed the files')
    .option('--cosign-key <file...>', 'public keys of cosign, one of which must have signed the version')
    .option('--name <name>', 'name of the module, for its signature; default: that in the registry')
    .action((reference: string) =>
      runner(async () => {
        const { pullCommand } = await import('./artifact-files.ts');
        return await pullCommand(reference, pull.opts<PullFlags>(), host);
      }),
    );
}
