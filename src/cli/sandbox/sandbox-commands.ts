import type { Command } from 'commander';
import type { CommandParts } from '../daemon/debug-command.ts';
import { nameArgument } from '../name-arguments.ts';
import { addSettingOptions, givenFlags } from '../operator/setting-options.ts';
import { DEV_DEFAULTS, DEV_FIXED } from './dev-flags.ts';
import { CLUSTER_FLAGS, sandboxDefaults } from './sandbox-flags.ts';
import { DEFAULT_STATE_DIR } from './sandbox-paths.ts';

/** Adds `sandbox`: the daemon on an embedded Kubernetes API, for trying it without a cluster. */
export function addSandboxCommand(program: Command, { host, runner }: CommandParts): void {
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

/** Adds `dev`: one module on this machine, in place of the operator in the cluster. */
export function addDevCommand(program: Command, { host, runner }: CommandParts): void {
  const dev = program
    .command('dev')
    .summary('Run one module here instead of the operator in a cluster')
    .description(
      'Run one module on this machine, from its files here, while the operator in the cluster runs all others: it hands the module over, and takes it back when this ends',
    )
    .addArgument(
      nameArgument(
        'module',
        '[module]',
        'name of the module; default: the only one in the modules directories',
      ),
    )
    .option('--force', 'take the module away from another "dev" that runs it')
    .option(
      '--global-values <file>',
      'global values as they are in the cluster: what "addon-operator global values" prints there',
    );
  addSettingOptions(dev, { defaults: DEV_DEFAULTS, hidden: DEV_FIXED });
  dev.action(() =>
    runner(async () => {
      const { runDev } = await import('./run-dev.ts');
      const options: Readonly<Record<string, unknown>> = dev.opts();
      const { globalValues } = options;
      return await runDev(
        {
          module: dev.args[0],
          isForced: options['force'] === true,
          globalValues: typeof globalValues === 'string' ? globalValues : undefined,
          flags: givenFlags(dev),
        },
        host,
      );
    }),
  );
}
