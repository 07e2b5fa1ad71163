import type { Command } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import type { MirrorFlags } from './mirror-selection.ts';

const REPOSITORY = 'oci://HOST/PATH, or the directory of an image layout as oci-layout:///PATH';

/** Adds `module mirror`, which needs no daemon. */
export function addMirrorCommand(module: Command, { host, runner }: CommandParts): void {
  const mirror = module
    .command('mirror')
    .summary('Copy versions, channels and signatures to another registry')
    .description(
      'Copy versions of a module with channels and signatures to another registry, or to a directory for an air gap',
    )
    .argument('<source>', REPOSITORY)
    .argument('<destination>', REPOSITORY)
    .option('--channel <name...>', 'only these channels, with the versions they name; default: all channels')
    .option('--since <version>', 'also all versions from this one on')
    .option('--all', 'also all other versions')
    .addHelpText('after', '\nExit code: 1 if the destination lacks a signature that the source has.')
    .action((source: string, destination: string) =>
      runner(async () => {
        const { mirrorCommand } = await import('./module-mirror.ts');
        return await mirrorCommand(source, destination, mirror.opts<MirrorFlags>(), host);
      }),
    );
}
