import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, type TestOptions, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import type { HelmVersion } from '../support/control-plane/programs.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { PodOperator, RELEASE } from '../support/node/pod-operator.ts';

const ROOT = join(import.meta.dirname, '../..');
const VERSIONS: readonly { readonly helm: HelmVersion; readonly options: TestOptions }[] = [
  { helm: '3.19.5', options: furtherNode },
  { helm: '4.1.4', options: {} },
];

describeNode('the chart of the operator in a pod', (node) => {
  for (const { helm, options } of VERSIONS) {
    // oxlint-disable-next-line vitest/valid-title -- the version makes it a title
    describe(`with helm ${helm}`, options, () => {
      test('installs one replica, grows to two, shrinks to one, and leaves nothing that blocks when it is uninstalled', async () => {
        const shared = await node();
        await using operator = await PodOperator.install(shared, { name: 'chart', files: MODULE, helm });
        const [pod] = await operator.pods();
        expect(pod?.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
        expect(await configMap(shared, operator)).toMatchObject({ data: { greeting: 'hello' } });
        // helm 3 deletes the pod of a test that succeeds before it reads the log.
        const logs = helm.startsWith('3.') ? [] : ['--logs'];
        const tested = await operator.helm('test', RELEASE, '--namespace', operator.namespace, ...logs);
        expect(tested).toMatch(/TEST SUITE: +op-test/);
        expect(tested).toMatch(/Phase: +Succeeded/);

        // Without a lease the running pod would be active beside the new ones.
        await scaleToZero(shared, operator);
        await operator.upgrade('--set', 'highAvailability.enabled=true');
        const replicas = await operator.pods();
        expect(replicas).toHaveLength(2);
        for (const { status } of replicas) {
          expect(status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
        }

        await expectRemoteCommands(shared, operator);

        await operator.upgrade();
        await expect.poll(async () => await operator.pods(), SOON).toHaveLength(1);
        await operator.helm('uninstall', RELEASE, '--namespace', operator.namespace, '--wait');
        await expect.poll(async () => await operator.pods(), SOON).toHaveLength(0);
        expect(await configMap(shared, operator)).toMatchObject({ data: { greeting: 'hello' } });
      });
    });
  }

  // The gate runs the starter modules with these permissions by the commands of the pages.
  test(
    'runs the starter modules with the permissions that `rbac` prints, in little memory',
    furtherNode,
    async () => {
      const shared = await node();
      await using operator = await PodOperator.install(shared, {
        name: 'starter',
        modulesDir: join(ROOT, 'modules'),
        globalHooksDir: join(ROOT, 'global-hooks'),
      });
      const records = await operator.records();
      expect(records.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
      expect(await shared.node.denials(operator.namespace, RELEASE)).toEqual([]);

      await scaleToZero(shared, operator);
      await operator.upgrade('--set', 'highAvailability.enabled=true');
      // A replica returns what its start took once it is at rest.
      const standby = async () => (await workingSetMebibytes(operator)).standby;
      await expect.poll(standby, SOON).toBeLessThan(MAX_MEBIBYTES.standby);
      const mebibytes = await workingSetMebibytes(operator);
      console.log(`memory in MiB after the starter modules: ${JSON.stringify(mebibytes)}`);
      expect(mebibytes.leader).toBeLessThan(MAX_MEBIBYTES.leader);
    },
  );

  test('fails `helm test` with the reason while a module fails', furtherNode, async () => {
    const shared = await node();
    const files = {
      ...MODULE,
      'modules/001-greeter/hooks/fail.sh':
        '#!/bin/sh\nif [ "$1" = --config ]; then echo "configVersion: v1\nbeforeHelm: 1"; else echo no luck >&2; exit 1; fi\n',
    };
    await using operator = await PodOperator.prepare(shared, { name: 'failing', files });
    await operator.startUpgrade();
    await operator.kubectl(
      'wait',
      '--for=jsonpath={.status.phase}=Running',
      'pod',
      '--all',
      '--timeout=300s',
    );
    const testing = operator.helm('test', RELEASE, '--namespace', operator.namespace);
    await expect(testing).rejects.toThrow('op-test');
    const log = await operator.kubectl('logs', 'op-test');
    expect(log).toContain('no pod of the operator is ready');
    expect(log).toContain('exec deploy/op -- addon-operator status says why');
  });
});

/** A third above what is measured: up to 80 MiB for the leader, 36 for a standby. Runs differ, what is kept that should not be is more. */
const MAX_MEBIBYTES = { leader: 110, standby: 48 };

/** What Kubernetes counts for the pods of two replicas, without files that could be dropped; the leader has the debug socket. */
async function workingSetMebibytes(operator: PodOperator): Promise<{ leader: number; standby: number }> {
  const script = `test -e /var/run/addon-operator/debug.socket && echo leader || echo standby
cat /sys/fs/cgroup/memory/memory.usage_in_bytes
sed -n 's/^total_inactive_file //p' /sys/fs/cgroup/memory/memory.stat`;
  const result = { leader: 0, standby: 0 };
  for (const { metadata } of await operator.pods()) {
    const output = await operator.kubectl('exec', metadata.name, '--', 'sh', '-c', script);
    const [role, usage, inactive] = output.split('\n');
    result[role === 'leader' ? 'leader' : 'standby'] = Math.round(
      (Number(usage) - Number(inactive)) / 2 ** 20,
    );
  }
  return result;
}

/** A laptop has the program, a kubeconfig and a way to the API server, and no way to pods. */
async function expectRemoteCommands({ node }: SharedNode, { namespace }: PodOperator): Promise<void> {
  const run = async (...args: readonly string[]) =>
    await execa(
      join(ROOT, 'bin/addon-operator'),
      ['--kubeconfig', node.kubeconfigPath, '-n', namespace, ...args],
      {
        env: { PATH: process.env['PATH'] },
        extendEnv: false,
        reject: false,
      },
    );
  expect(await run('status')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('all is well') as string,
  });
  expect((await run('module', 'list', '-o', 'name')).stdout).toBe('greeter');
}

const SOON = { timeout: 600_000, interval: 200 };

const MODULE = {
  'modules/001-greeter/Chart.yaml': 'apiVersion: v2\nname: greeter\nversion: 1.0.0\n',
  'modules/001-greeter/values.yaml': 'greeterEnabled: true\ngreeter: {greeting: hello}\n',
  'modules/001-greeter/templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeter}\ndata: {greeting: {{ .Values.greeter.greeting }}}\n',
};

async function configMap({ node }: SharedNode, { namespace }: PodOperator): Promise<unknown> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/configmaps/greeter` });
  return body;
}

async function scaleToZero({ node }: SharedNode, operator: PodOperator): Promise<void> {
  await node.probe.expect({
    method: 'PATCH',
    path: `/apis/apps/v1/namespaces/${operator.namespace}/deployments/${RELEASE}/scale`,
    contentType: 'application/merge-patch+json',
    body: { spec: { replicas: 0 } },
  });
  await expect.poll(async () => await operator.pods(), SOON).toHaveLength(0);
}
