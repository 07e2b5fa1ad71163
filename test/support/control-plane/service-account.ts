import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../world.ts';
import { ApiProbe } from './api-probe.ts';
import type { Cluster } from './global-setup.ts';

/** A kubeconfig with which one is a service account, and may do no more than that. */
export async function serviceAccountKubeconfig(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<string> {
  const response = (await new ApiProbe(cluster.access).expect({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } };
  const config = JSON.parse(await readFile(cluster.kubeconfigPath, 'utf8')) as Record<string, unknown>;
  const path = join(await mkdtemp(join(tmpdir(), 'service-account-')), 'kubeconfig');
  const users = [{ name: 'admin', user: { token: response.status.token } }];
  await writeFile(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
}

/** Creates a service account that may do this in the namespace of a world. */
export async function createServiceAccount(
  world: World,
  name: string,
  rules: readonly object[],
): Promise<void> {
  const metadata = { name };
  await world.create('serviceaccounts', { metadata });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${world.namespace}`;
  await world.expect({ method: 'POST', path: `${rbac}/roles`, body: { metadata, rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', name, namespace: world.namespace }];
  const body = { metadata, roleRef, subjects };
  await world.expect({ method: 'POST', path: `${rbac}/rolebindings`, body });
}
