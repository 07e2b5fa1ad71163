import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { World } from '../support/world.ts';
import { type CommandResult, runInWorld } from '../support/world-command.ts';
import { shHook, writeTree } from '../support/world-files.ts';

const HOOK = (namespace: string): string =>
  shHook(
    `kubernetes:
- {name: secrets, apiVersion: v1, kind: Secret, namespace: {nameSelector: {matchNames: [${namespace}]}}, nameSelector: {matchNames: [hook-run]}, jqFilter: .metadata.name}`,
    `cat > "$KUBERNETES_PATCH_PATH" <<PATCH
operation: CreateOrUpdate
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: ${namespace}}, data: {a: b}}
---
operation: MergePatch
apiVersion: v1
kind: Secret
namespace: ${namespace}
name: hook-run
mergePatch: {metadata: {labels: {seen: "yes"}}}
PATCH
echo '[{"op": "add", "path": "/global/seen", "value": true}]' > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo "access: $KUBECONFIG"`,
  );

describeCluster('hook run --kube-context', (cluster) => {
  test('reads the cluster, and writes only with --apply', async () => {
    const backend = await controlPlaneBackend(cluster());
    await using world = await World.create(backend, { config: {} });
    await world.stop();
    await world.create('secrets', { metadata: { name: 'hook-run' } });
    await writeTree(world.directory, { 'tried/hook.sh': HOOK(world.namespace) });
    const made = async (): Promise<unknown> => (await world.get('configmaps', 'made'))?.['data'];
    const metadata = async (): Promise<unknown> => (await world.get('secrets', 'hook-run'))?.['metadata'];

    const settingsEnv = {
      ...world.settingsEnv,
      KUBE_CONFIG: backend.kubeconfigPath,
      ADDON_OPERATOR_NAMESPACE: world.namespace,
    };
    const run = (...options: readonly string[]): Promise<CommandResult> =>
      runInWorld(
        { flags: world.flags, hostEnv: world.hostEnv, directory: world.directory, settingsEnv },
        'hook',
        'run',
        'tried/hook.sh',
        '--kube-context',
        'test',
        ...options,
      );
    const dry = await run();
    expect(dry.stdout).toContain(
      "global hook 'hook.sh' on the cluster of context test, of which nothing is changed",
    );
    expect(dry.stdout).toContain('Synchronization of secrets with 1 object');
    expect(dry.stdout).toContain('access: /dev/null');
    expect(dry.stdout).toContain(`ConfigMap ${world.namespace}/made would be created`);
    expect(dry.stdout).toContain(`Secret ${world.namespace}/hook-run would be changed`);
    expect(dry.stdout).toContain('config values in the ConfigMap would change');
    expect(dry.exitCode).toBe(0);
    expect(await made()).toBeUndefined();
    expect(await metadata()).not.toHaveProperty('labels');

    const applied = await run('--apply');
    expect(applied.stdout).toContain(`ConfigMap ${world.namespace}/made was created`);
    expect(applied.exitCode).toBe(0);
    expect(await made()).toEqual({ a: 'b' });
    expect(await metadata()).toMatchObject({ labels: { seen: 'yes' } });

    const mixed = await run('--cluster', 'tried');
    expect(mixed).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--cluster is not used with --kube-context'),
    });
  });
});
