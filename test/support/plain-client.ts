import type { Clock } from '@addon-operator/base/clock';
import { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';

/** A client for a server without TLS that asks for no credentials. The caller closes it. */
export function plainClient(url: string, clock: Clock): HttpKubeClient {
  return new HttpKubeClient({
    access: {
      server: url,
      currentNamespace: 'default',
      source: 'test',
      tls: { isVerified: true },
      identity: { type: 'anonymous' },
    },
    credentials: { current: async () => ({}), refresh: async () => ({}) },
    clock,
    random: () => 0,
    version: '1.2.3',
  });
}
