import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeconfigSource } from '@addon-operator/kube-client/cluster-access';

/** Where helm finds the cluster: a kubeconfig and the context in it, empty for its current one. */
interface HelmKubeconfig {
  readonly path: string;
  readonly context: string;
  /** Removes the kubeconfig if it was written. */
  readonly remove: () => void;
}

interface HelmKubeconfigOptions {
  readonly source: KubeconfigSource;
  /** The context that was chosen, empty for the current one. */
  readonly context: string;
  /** Of this process alone; made if a kubeconfig is written. */
  readonly directory: string;
}

/**
 * A kubeconfig that leads helm to the cluster the daemon uses: the user's own file where there is one, else one that is
 * written into a private directory. helm runs the plug-in of a user itself.
 */
export function helmKubeconfig({ source, context, directory }: HelmKubeconfigOptions): HelmKubeconfig {
  if (source.type === 'file') return { path: source.path, context, remove: () => undefined };
  const path = join(directory, 'kubeconfig');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify(source.document), { mode: 0o600, flag: 'wx' });
  return { path, context: '', remove: () => rmSync(directory, { recursive: true, force: true }) };
}
