import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces';
const LEASE = 'addon-operator-leader-election';

/** Runs a command as `kubectl exec` does in pod `operator-b`. */
async function runInReplica(world: World, ...args: readonly string[]) {
  const { flags, directory, hostEnv } = world;
  const settingsEnv = {
    ...world.settingsEnv,
    ADDON_OPERATOR_HA: 'true',
    ADDON_OPERATOR_POD: 'operator-b',
    ADDON_OPERATOR_NAMESPACE: world.namespace,
    ADDON_OPERATOR_LISTEN_ADDRESS: '10.0.0.2',
    KUBE_CONFIG: flags['kube-config'] ?? '',
  };
  return await runInWorld({ flags, directory, hostEnv, settingsEnv }, ...args);
}

/** Makes the Lease that of this holder. */
async function lease(world: World, holderIdentity: string): Promise<void> {
  const path = `${LEASES}/${world.namespace}/leases`;
  await world.backend.request({ method: 'DELETE', path: `${path}/${LEASE}` });
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: LEASE, namespace: world.namespace },
    spec: { holderIdentity },
  };
  await world.expect({ method: 'POST', path, body });
}

describeLifecycle((backend) => {
  test('a command in a standby names the leader and the command that reaches it', async () => {
    await using world = await World.create(backend(), {});
    const retry = /leads.*retry in some seconds/;
    const withoutLeader = await runInReplica(world, 'module', 'list');
    expect(withoutLeader).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(retry) });

    await lease(world, `operator-a.10-0-0-1.${world.namespace}.pod`);
    const standby = await runInReplica(world, 'module', 'values', 'my web');
    expect(standby).toMatchObject({ exitCode: 1, stdout: '' });
    expect(standby.stderr).toContain(
      `This replica is a standby, and only the leader has a socket: kubectl -n ${world.namespace} exec operator-a -- addon-operator module values 'my web'\n`,
    );
    expect(standby.stderr).toContain('Code: DEBUG_SOCKET');
    const waiting = await runInReplica(world, 'wait', 'module', 'web', '--timeout', '1h');
    expect(waiting).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('exec operator-a -- ') });

    await lease(world, `operator-b.10-0-0-2.${world.namespace}.pod`);
    const starting = await runInReplica(world, 'module', 'list');
    expect(starting.stderr).toContain('This replica leads and is still starting: retry in some seconds.');
  });

  test('a command without high availability looks for no leader', async () => {
    await using world = await World.create(backend(), {});
    await lease(world, `operator-a.10-0-0-1.${world.namespace}.pod`);
    const run = await runInWorld(world, 'module', 'list');
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.not.stringContaining('operator-a') });
  });
});
