import { hasCode } from '@addon-operator/base/errors';
import type { CliHost, RemoteOperator } from '../cli-host.ts';

/** Where the operator of a command runs, as a kubeconfig and `kubectl` name it. */
export interface RemoteTarget {
  readonly kubeconfig?: string;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string;
  /** Default: that of the context if an operator runs there, else the only one in the cluster with an operator. */
  readonly namespace?: string;
  /** Default: the leader. */
  readonly pod?: string;
}

/** A command line for an operator in a cluster. */
export interface RemoteCommand {
  readonly target: RemoteTarget;
  /** The arguments from the command on. */
  readonly args: readonly string[];
}

/** Also by the names that kubectl has for them. */
const FLAGS: Readonly<Record<string, keyof RemoteTarget>> = {
  '--kube-config': 'kubeconfig',
  '--kubeconfig': 'kubeconfig',
  '--kube-context': 'context',
  '--context': 'context',
  '--namespace': 'namespace',
  '-n': 'namespace',
  '--pod': 'pod',
};

/** Commands that do not speak to a running operator. Flags before them are those of the daemon. */
const LOCAL = new Set(['start', 'sandbox', 'plan', 'rbac', 'uninstall', 'dev', 'help', 'completion']);

/** Set by the plug-in of kubectl, whose commands are always about a cluster. */
export const PLUGIN_VARIABLE = 'ADDON_OPERATOR_KUBECTL_PLUGIN';

/**
 * Reads the flags in front of a command that name a cluster: `--kube-context prod -n infra status`. Undefined for a command
 * line without such flags, and for one that starts a daemon.
 */
export function readRemoteCommand(
  args: readonly string[],
  { env }: Pick<CliHost, 'env'>,
): RemoteCommand | undefined {
  const target: Partial<Record<keyof RemoteTarget, string>> = {};
  let index = 0;
  for (; index < args.length; index += 1) {
    const [name, inline] = splitOnce(args[index] ?? '');
    const field = FLAGS[name];
    if (field === undefined) break;
    if (inline === undefined) index += 1;
    target[field] = inline ?? args[index] ?? '';
  }
  const [command = ''] = args.slice(index);
  const isPlugin = env[PLUGIN_VARIABLE] === 'true';
  if (!/^[a-z]/u.test(command) || LOCAL.has(command) || (index === 0 && !isPlugin)) return undefined;
  return { target, args: args.slice(index) };
}

function splitOnce(arg: string): readonly [name: string, value: string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

/** The error to show for a failed command: why the pod cannot be reached is more than that its socket was closed. */
export function remoteProblem(error: unknown, { problem }: Pick<RemoteOperator, 'problem'>): unknown {
  return hasCode(error, 'DEBUG_SOCKET') ? (problem ?? error) : error;
}
