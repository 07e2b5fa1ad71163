import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import type { CommandRunner } from '../daemon/debug-command.ts';
import { addSettingOptions, givenFlags } from '../operator/setting-options.ts';
import { CLUSTER_FLAGS, sandboxDefaults } from './sandbox-flags.ts';
import { DEFAULT_STATE_DIR } from './sandbox-paths.ts';

/** Adds `sandbox`: the daemon on an embedded Kubernetes API, for trying it without a cluster. */
export function addSandboxCommand(program: Command, host: CliHost, runner: CommandRunner): void {
  const sandbox = program
    .command('sandbox')
    .summary('Run the daemon without a cluster, to try it')
    .description('Run the daemon on an embedded Kubernetes API, to try it without a cluster')
    .option(
      '--state-dir <path>',
      'directory for the state of the API, the kubeconfig and the log',
      DEFAULT_STATE_DIR,
    )
    .option('--reset', 'start with an empty API: delete the stored state')
    .option('--sandbox-port <number>', 'port of the API; 0 takes a free one', '0');
  addSettingOptions(sandbox, {
    defaults: sandboxDefaults({ tmpDir: '<state-dir>/tmp', debugSocket: '<state-dir>/debug.socket' }),
    hidden: CLUSTER_FLAGS,
  });
  sandbox.action(() =>
    runner(async () => {
      const { runSandbox } = await import('./run-sandbox.ts');
      const options: Readonly<Record<string, unknown>> = sandbox.opts();
      return await runSandbox(
        {
          stateDir: String(options['stateDir']),
          isReset: options['reset'] === true,
          port: String(options['sandboxPort']),
          flags: givenFlags(sandbox),
        },
        host,
      );
    }),
  );
}
