import { OperatorError } from '@addon-operator/base/errors';
import type { Setting } from '../../settings/setting.ts';
import { SETTINGS } from '../../settings.ts';
import type { SandboxFiles } from './sandbox-paths.ts';

/** Flags that say which cluster to use: the sandbox is the one. */
export const CLUSTER_FLAGS: readonly string[] = ['kube-config', 'kube-context', 'kube-server'];

/** Defaults for a sandbox on a developer's machine, by flag name; flags and variables override them. */
export function sandboxDefaults(
  files: Pick<SandboxFiles, 'tmpDir' | 'debugSocket'>,
): Readonly<Record<string, string>> {
  return {
    namespace: 'addon-operator',
    'tmp-dir': files.tmpDir,
    'debug-unix-socket': files.debugSocket,
    'watch-files': 'true',
    'shutdown-grace': '3s',
    'prometheus-listen-address': '127.0.0.1',
    ui: 'loopback',
    // Several sandboxes may run; the address is shown, and each start creates a new token.
    'ui-port': '0',
    // Servers of hooks that are tried out run on the same machine.
    'http-hook-allowed-hosts': '*.svc,*.svc.cluster.local,localhost,127.0.0.1,::1',
    'log-type': 'text',
    // The limits protect a server that has other clients too.
    'kube-client-qps': '500',
    'kube-client-burst': '1000',
    'object-patcher-kube-client-qps': '500',
    'object-patcher-kube-client-burst': '1000',
    'helm-monitor-kube-client-qps': '500',
    'helm-monitor-kube-client-burst': '1000',
  };
}

/** Where settings come from; see `readSettings`. */
export interface GivenSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, string>>;
}

/**
 * The flags a daemon in the sandbox gets: those that were given, and defaults for what is given neither as a flag nor as
 * a variable. The cluster is always the sandbox, also when variables name another one.
 *
 * @throws OperatorError CONFIG_INVALID when a flag names another cluster
 */
export function sandboxFlags(given: GivenSettings, files: SandboxFiles): Readonly<Record<string, string>> {
  const refused = CLUSTER_FLAGS.find((flag) => flag in given.flags);
  if (refused !== undefined) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `flag --${refused} cannot be used with "sandbox", which brings its own API; use "addon-operator start" for a cluster`,
    );
  }
  const missing = Object.entries(sandboxDefaults(files)).filter(([flag]) => !isGiven(flag, given));
  return {
    ...Object.fromEntries(missing),
    ...given.flags,
    'kube-config': files.kubeconfig,
    'kube-context': '',
    'kube-server': '',
  };
}

/** Whether a setting is chosen by its flag or one of its variables. */
export function isGiven(flag: string, { env, flags }: GivenSettings): boolean {
  const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const names = rows.find((row) => row.flag === flag)?.env ?? [];
  return flag in flags || names.some((name) => (env[name] ?? '') !== '');
}
