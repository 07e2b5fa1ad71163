import { join } from 'node:path';

export interface HelmEnvironmentOptions {
  /** The daemon's own environment: proxies, CA bundles, cloud credentials and `PATH` are helm's business too. */
  readonly base: Readonly<Record<string, string | undefined>>;
  readonly kubeConfigPath: string;
  /** Directory of the driver; helm's caches and configuration go below it. */
  readonly workDir: string;
  /** Where the post-renderer plugin of helm 4 lies. */
  readonly pluginsDir: string;
  /** `HELM_DRIVER`. */
  readonly storageDriver: string;
}

/**
 * The environment of every helm process. A person's helm settings (`HELM_NAMESPACE`, `HELM_KUBECONTEXT`, plugins…) do
 * not reach it: two operators with the same input must do the same.
 */
export function helmEnvironment(options: HelmEnvironmentOptions): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.base)) {
    if (value !== undefined && !name.startsWith('HELM_')) env[name] = value;
  }
  return {
    ...env,
    KUBECONFIG: options.kubeConfigPath,
    KUBECACHEDIR: join(options.workDir, 'kube-cache'),
    HELM_CACHE_HOME: join(options.workDir, 'cache'),
    HELM_CONFIG_HOME: join(options.workDir, 'config'),
    HELM_DATA_HOME: join(options.workDir, 'data'),
    HELM_PLUGINS: options.pluginsDir,
    HELM_DRIVER: options.storageDriver,
  };
}
