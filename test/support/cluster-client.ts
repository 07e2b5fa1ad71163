import { readFile } from 'node:fs/promises';
import { systemClock } from '@addon-operator/base/clock';
import type { ClusterAccess } from '@addon-operator/kube-client/cluster-access';
import { CredentialStore } from '@addon-operator/kube-client/credentials';
import { HttpKubeClient, type HttpKubeClientOptions } from '@addon-operator/kube-client/http-kube-client';
import { loadKubeConfig } from '@addon-operator/kube-client/kube-config';
import { loadPluginCredentials } from '@addon-operator/kube-client/plugin-credentials';

/** What a kubeconfig file gives access to, whatever the environment of the test. */
export function accessFrom(kubeConfigPath: string): Promise<ClusterAccess> {
  return loadKubeConfig({ kubeConfigPath, env: {}, readFile: readText });
}

/** The client of the product, composed as the daemon does, without a rate limit. */
export function clientFor(
  access: ClusterAccess,
  overrides: Partial<HttpKubeClientOptions> = {},
): HttpKubeClient {
  const clock = overrides.clock ?? systemClock;
  return new HttpKubeClient({
    access,
    credentials: new CredentialStore(access, {
      clock,
      readFile: readText,
      loadPlugin: (user) => loadPluginCredentials(user, clock),
    }),
    clock,
    random: Math.random,
    version: 'test',
    ...overrides,
  });
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
