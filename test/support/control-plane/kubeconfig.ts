import { readFileSync } from 'node:fs';
import type { ApiAccess } from './api-probe.ts';

/** Text of a kubeconfig file (JSON is YAML) that needs no other file. */
export function adminKubeconfig({ serverUrl, caFile, certFile, keyFile }: ApiAccess): string {
  const base64 = (file: string): string => readFileSync(file).toString('base64');
  return kubeconfig(
    { server: serverUrl, 'certificate-authority-data': base64(caFile) },
    { 'client-certificate-data': base64(certFile), 'client-key-data': base64(keyFile) },
  );
}

/** Text of a kubeconfig file for a server that asks for no credentials. */
export function plainKubeconfig(serverUrl: string): string {
  return kubeconfig({ server: serverUrl }, {});
}

function kubeconfig(cluster: object, user: object): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
