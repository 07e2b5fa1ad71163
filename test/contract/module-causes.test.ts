import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { moduleWorld, readModule, uniqueName } from '../support/module-world.ts';
import { untilReported } from '../support/reported-cause.ts';
import type { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
/** After this a watch that fails makes its snapshot an old one. */
const STALE_MS = 61_000;

/** Watches one ConfigMap, in a queue of its own. */
function watching(name: string): string {
  return shHook(
    `kubernetes: [{name: ${name}, kind: ConfigMap, apiVersion: v1, queue: side, nameSelector: {matchNames: [${name}]}}]`,
    'true',
  );
}

async function untilReady(world: World, name: string): Promise<void> {
  await vi.waitFor(async () => {
    for (const queue of world.daemon.operator.queues.all) queue.cutDelay();
    expect((await readModule(world, name))?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
  }, WAIT);
}

test('a requirement, a hook that hangs, a missing permission, a stale watch and drift are found as the same causes everywhere', async () => {
  await using backend = await sandboxBackend();
  await using proxy = await FaultProxy.start({ serverUrl: backend.sandbox.url });
  const directory = await mkdtemp(join(tmpdir(), 'module-causes-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  const [db, web, slow, denied, stale, drifted] = Array.from({ length: 6 }, uniqueName) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const names = [db, web, slow, denied, stale, drifted];
  try {
    await using made = await moduleWorld(
      backend,
      {
        flags: { 'kube-config': kubeconfig, 'module-failure-policy': 'isolate' },
        modules: {
          'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
          [`001-${db}/hooks/a.sh`]: shHook(
            'beforeHelm: 1',
            '[ -e "$WORLD/db-mended" ] || { echo no disk; exit 1; } >&2',
          ),
          [`002-${web}/module.yaml`]: `requires: [{name: ${db}}]\n`,
          [`002-${web}/hooks/a.sh`]: shHook('beforeHelm: 1', 'true'),
          [`003-${slow}/hooks/slow.sh`]: shHook('beforeHelm: 1', '[ ! -e "$WORLD/slow" ] || exec sleep 600'),
          [`004-${denied}/hooks/a.sh`]: watching('secret-map'),
          [`005-${stale}/hooks/a.sh`]: watching('old-map'),
          ...under(`006-${drifted}`, configMapChart(drifted, drifted)),
          [`006-${drifted}/module.yaml`]: 'drift: {mode: heal}\n',
        },
      },
      names,
    );
    const { world } = made;
    await world.converge();
    for (const name of [slow, denied, stale, drifted]) await untilReady(world, name);

    await untilReported(world, web, {
      reason: 'RequirementFailed',
      text: `module ${db}`,
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'requirements',
    });
    await untilReported(world, db, {
      reason: 'RunFailed',
      text: 'no disk',
      kstatus: 'Stalled',
      event: 'Failed',
      node: 'before-helm',
    });
    await world.write('modules', { '../db-mended': '', '../slow': '' });
    for (const name of [db, web]) await untilReady(world, name);

    const forbidden = proxy.add(
      { path: /configmaps$/, query: /secret-map/ },
      { type: 'status', status: 403 },
    );
    const broken = proxy.add({ path: /configmaps$/, query: /old-map/ }, { type: 'status', status: 500 });
    const readOnly = proxy.add(
      { verb: 'patch', path: new RegExp(`configmaps/${drifted}$`, 'u'), query: /^(?!.*dryRun)/u },
      { type: 'status', status: 403 },
    );
    proxy.resetConnections();
    await world.merge('configmaps', drifted, { data: { values: 'of somebody else' } });
    await untilReported(world, denied, {
      reason: 'Forbidden',
      text: "kubernetes binding 'secret-map'",
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'synchronized',
    });
    await untilReported(world, drifted, {
      reason: 'DriftNotCorrected',
      text: `ConfigMap/${drifted}`,
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'ready',
    });
    // A jump ends requests in progress, so nothing else is to be written then.
    await broken.untilHit();
    world.clock.jump(STALE_MS);
    await untilReported(world, stale, {
      reason: 'WatchFailed',
      text: "kubernetes binding 'old-map'",
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'synchronized',
    });
    for (const rule of [forbidden, broken, readOnly]) proxy.remove(rule);

    await runInWorld(world, 'module', 'reconcile', slow);
    const { running } = world.daemon.operator.execution;
    await vi.waitFor(() => expect(running.all.map(({ hook }) => hook.name)).toEqual(['hooks/slow.sh']), WAIT);
    await vi.waitFor(async () => {
      expect((await readModule(world, slow))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Reconciling', status: 'True' }),
      );
    }, WAIT);
    world.clock.jump(10 * 60_000);
    await untilReported(world, slow, {
      reason: 'HookHangs',
      text: `hook ${slow}/hooks/slow.sh`,
      kstatus: 'Stalled',
      event: 'HeldUp',
      node: 'before-helm',
    });
    await world.expel('slow');
    await runInWorld(world, 'hook', 'abort', `${slow}/hooks/slow.sh`);
    for (const name of names) await untilReady(world, name);
  } finally {
    await rm(directory, { recursive: true });
  }
});
