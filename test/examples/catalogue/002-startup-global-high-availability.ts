import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test, vi } from 'vitest';
import type { DaemonProcess } from '../../support/daemon-process.ts';
import { leaseOf, Replicas, untilLeading } from '../../support/replicas.ts';
import type { Backend, World } from '../../support/world.ts';
import { exampleWorld, SOON } from '../example-world.ts';
import { cataloguePath, requireTools } from './catalogue-world.ts';

const NAME = '002-startup-global-high-availability';
const HOOK_LINE = 'OnStartup global shell hook';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

export function startupGlobalHighAvailabilityTests(backend: () => Backend): void {
  test('002-startup-global-high-availability: the leader runs the hook, both are ready, the other takes over', async (context) => {
    requireTools(context, 'bash');
    await using world = await exampleWorld(backend(), `catalogue/${NAME}`);
    // Service accounts and their rights are none of the sandbox's business.
    const flags = world.backend.name === 'sandbox' ? {} : { 'kube-config': await serviceAccount(world) };
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1, undefined, flags);
    await one.untilConverged();
    await using two = await replicas.start(2, undefined, flags);
    await two.log.untilMessage('the lease has a holder');
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: `pod-1.127-0-0-1.${world.namespace}.pod` });
    await vi.waitFor(
      async () => expect(await replicas.ask(2, '/readyz')).toMatchObject({ status: 200 }),
      SOON,
    );
    expect(await replicas.ask(1, '/readyz')).toMatchObject({ status: 200 });
    expect([hookLines(one), hookLines(two)]).toEqual([1, 0]);
    one.signal('SIGTERM');
    await untilLeading(two);
    await two.untilConverged();
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: `pod-2.127-0-0-2.${world.namespace}.pod` });
    expect(hookLines(two)).toBe(1);
    expect(await replicas.ask(2, '/readyz')).toMatchObject({ status: 200, body: 'Startup converge done.\n' });
  });

  test('002-startup-global-high-availability: the API server takes the Deployment', async () => {
    await using world = await exampleWorld(backend(), `catalogue/${NAME}`);
    expect(await apply(world, 'addon-operator-deployment.yaml', '?dryRun=All')).toEqual(['Deployment']);
  });
}

function hookLines(daemon: DaemonProcess): number {
  return daemon.log.records.filter(
    ({ msg, output, hook }) => msg === HOOK_LINE && output === 'stdout' && hook === 'hook.sh',
  ).length;
}

const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  Deployment: 'deployments',
};

/** Creates the objects of a file of the example, and returns their kinds. */
async function apply(world: World, file: string, query = ''): Promise<readonly string[]> {
  const objects = loadAll(await readFile(cataloguePath(NAME, file), 'utf8')) as readonly Manifest[];
  for (const object of objects) {
    const root = object.apiVersion === 'v1' ? '/api/v1' : `/apis/${object.apiVersion}`;
    const path = `${root}/namespaces/${world.namespace}/${PATHS[object.kind] ?? ''}${query}`;
    await world.expect({ method: 'POST', path, body: object });
  }
  return objects.map(({ kind }) => kind);
}

/** Creates the account of the example, and returns the path of a kubeconfig for it. */
async function serviceAccount(world: World): Promise<string> {
  await apply(world, 'addon-operator-rbac.yaml');
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const path = world.path('serviceaccounts', 'addon-operator/token');
  const { status } = (await world.expect({ method: 'POST', path, body: request })) as {
    status: { token: string };
  };
  const kubeconfig = JSON.parse(await readFile(world.backend.kubeconfigPath, 'utf8')) as {
    users: { user: object }[];
  };
  for (const user of kubeconfig.users) user.user = { token: status.token };
  const file = join(world.directory, 'account');
  await writeFile(file, JSON.stringify(kubeconfig));
  return file;
}
