import { readFile } from 'node:fs/promises';
import type { ClusterAccess } from '../../src/kube/cluster-access.ts';
import { CredentialStore } from '../../src/kube/credentials.ts';
import { HttpKubeClient, type HttpKubeClientOptions } from '../../src/kube/http-kube-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { loadPluginCredentials } from '../../src/kube/plugin-credentials.ts';
import { systemClock } from '../../src/lib/clock.ts';

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
