import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { type Sandbox, type SandboxOptions, startSandbox } from '@addon-operator/kube-sandbox';
import { errorLog } from '../../devkit/error-log.ts';
import { type HookLab, withHookLab } from '../../devkit/hook-lab.ts';
import { CONFIG_MAP, NAMESPACE } from '../../devkit/operator-objects.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { Settings } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { daemonHost } from '../daemon-host.ts';
import { withHookTools } from '../hook/hook-tools.ts';
import { rethrowSandboxError } from './sandbox-failure.ts';
import { writeKubeconfig } from './sandbox-files.ts';

/** Hooks one after another on one sandbox in memory. */
export interface SandboxLab {
  readonly lab: HookLab;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
}

/** A sandbox in memory, and what leads the operator and its hooks there. */
export interface SandboxApi {
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  /** Variables for hooks: those that use kubectl reach the sandbox. */
  readonly env: CliHost['env'];
}

export interface SandboxApiOptions extends Pick<SandboxOptions, 'onChange' | 'onRequest'> {
  /** Further settings, by flag name. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Times of objects, in milliseconds since 1970. */
  readonly wallMs?: () => number;
}

/**
 * Starts a sandbox that lasts for a command. When this resolves it has ended, and its temporary files are gone.
 *
 * @throws OperatorError when that is not possible; errors of `use`
 */
export async function withSandboxApi<T>(
  host: CliHost,
  { flags = {}, wallMs = () => systemClock.wallMs(), ...watch }: SandboxApiOptions,
  use: (api: SandboxApi) => Promise<T>,
): Promise<T> {
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const sandbox = await startSandbox(
    { clock: { ...systemClock, wallMs }, log: silentLogger, ...watch },
    new AbortController().signal,
  ).catch(rethrowSandboxError);
  running.defer(() => sandbox.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, sandbox.kubeconfig);
  const own = { 'kube-config': kubeconfig, namespace: NAMESPACE, 'config-map': CONFIG_MAP };
  const settings = readSettings({ env: host.env, flags: { ...flags, ...own } });
  const env = { ...withHookTools(host.env, join(directory, 'bin')), KUBECONFIG: kubeconfig };
  return await use({ sandbox, settings, env });
}

/** The same, with what hooks need to run on it. */
export async function withSandboxLab<T>(
  host: CliHost,
  options: SandboxApiOptions,
  use: (lab: SandboxLab) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return await withSandboxApi(host, options, async ({ sandbox, settings, env }) => {
    const labHost = daemonHost(
      { ...host, env },
      errorLog(() => undefined),
    );
    return await withHookLab({ settings, host: labHost }, (lab) => use({ lab, sandbox, settings }), signal);
  });
}
