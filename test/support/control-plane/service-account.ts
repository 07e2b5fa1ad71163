import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiProbe } from './api-probe.ts';
import type { Cluster } from './global-setup.ts';

/** A kubeconfig with which one is a service account, and may do no more than that. */
export async function serviceAccountKubeconfig(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<string> {
  const answer = (await new ApiProbe(cluster.access).expect({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } };
  const config = JSON.parse(await readFile(cluster.kubeconfigPath, 'utf8')) as Record<string, unknown>;
  const path = join(await mkdtemp(join(tmpdir(), 'service-account-')), 'kubeconfig');
  const users = [{ name: 'admin', user: { token: answer.status.token } }];
  await writeFile(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
}
