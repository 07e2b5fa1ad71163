import { OperatorError } from '@addon-operator/base/errors';
import { type GivenSettings, isGiven } from './sandbox-flags.ts';

/** Defaults of `dev`, by flag name; flags and variables override them. */
export const DEV_DEFAULTS: Readonly<Record<string, string>> = {
  namespace: 'addon-operator',
  'watch-files': 'true',
  'shutdown-grace': '3s',
  'prometheus-listen-address': '127.0.0.1',
  'prometheus-listen-port': '0',
  // The operator takes a module back soon after this process has been killed.
  'lease-duration': '15s',
  'lease-renew-deadline': '10s',
  'lease-retry-period': '3s',
};

/** Flags for tasks that the operator in the cluster does for all modules. */
const OF_OPERATOR: Readonly<Record<string, string>> = { 'module-objects': 'false', ui: 'off' };

/** Flags without a use in `dev`: their values are fixed, or are those of a process in a pod. */
export const DEV_FIXED: readonly string[] = [...Object.keys(OF_OPERATOR), 'tmp-dir', 'debug-unix-socket'];

/**
 * The flags of a daemon that runs one module on the machine of its author.
 *
 * @param directory for temporary files and the debug socket, unless they are given
 * @param kubeconfig the kubeconfig of the user, unless one is given
 * @throws OperatorError CONFIG_INVALID without a context: the module acts on that cluster, and the current context may be another
 */
export function devFlags(
  given: GivenSettings,
  directory: string,
  kubeconfig: string,
): Readonly<Record<string, string>> {
  if (!isGiven('kube-context', given))
    throw new OperatorError(
      'CONFIG_INVALID',
      'name the cluster with --kube-context: the module acts on it; "kubectl config get-contexts" lists the contexts',
    );
  const defaults = {
    ...DEV_DEFAULTS,
    'kube-config': kubeconfig,
    'tmp-dir': `${directory}/tmp`,
    'debug-unix-socket': `${directory}/debug.socket`,
  };
  const missing = Object.entries(defaults).filter(([flag]) => !isGiven(flag, given));
  return { ...Object.fromEntries(missing), ...given.flags, ...OF_OPERATOR };
}
