import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { FaultRule } from '../support/fault-rule.ts';
import { item, itemsHook, untilSeen } from '../support/items-hook.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, under } from '../support/world-files.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const ITEMS_WATCH = { verb: 'watch', path: /configmaps$/, query: /item/, times: 1 } as const;
/** After this a silent watch counts as broken. */
const SILENCE_MS = 70_000;

async function watchErrors(world: World): Promise<readonly string[]> {
  const name = 'addon_operator_kubernetes_client_watch_errors_total';
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
  return (await response.text()).split('\n').flatMap((line) => {
    const [, type, count] = new RegExp(`^${name}\\{error_type="(.+)"\\} (\\d+)$`).exec(line) ?? [];
    return type === undefined ? [] : [`${type} ${count}`];
  });
}

/** Lets pauses between attempts pass until a rule has hit. */
async function untilHit(rule: FaultRule, world: World): Promise<void> {
  await vi.waitFor(() => {
    world.clock.jump(200);
    expect(rule.hits).toBe(1);
  }, PATIENCE);
}

test('watches that end early are counted by error type, and no event is missed', async () => {
  await using backend = await sandboxBackend();
  await using proxy = await FaultProxy.start({ serverUrl: backend.sandbox.url });
  const directory = await mkdtemp(join(tmpdir(), 'watch-errors-'));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, proxy.kubeconfig);
    await using world = await World.create(backend, { flags: { 'kube-config': kubeconfig } });
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    const cut = proxy.add(ITEMS_WATCH, { type: 'cut-after-bytes', bytes: 1 });
    const ended = proxy.add(ITEMS_WATCH, { type: 'end' });
    const refused = proxy.add(ITEMS_WATCH, { type: 'status', status: 500 });
    const expired = proxy.add(ITEMS_WATCH, { type: 'status', status: 410 });
    const silent = proxy.add(ITEMS_WATCH, { type: 'blackhole' });
    await world.converge();
    expect([cut.hits, await watchErrors(world)]).toEqual([1, []]);
    await world.create('configmaps', item('a'));
    for (const rule of [ended, refused, expired, silent]) await untilHit(rule, world);
    await vi.waitFor(
      async () =>
        expect(await watchErrors(world)).toEqual(['unexpected-eof 1', 'eof 1', 'fail 1', 'expired 1']),
      PATIENCE,
    );
    await world.create('configmaps', item('b'));
    world.clock.jump(SILENCE_MS);
    await untilSeen(world.log, 'Added b');
    expect((await watchErrors(world)).join('\n')).toMatch(/^nil [1-9]/m);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('FAULT-A15: a watch that is refused later is shown by probe, metrics, snapshots and explain, until it is permitted again', async () => {
  await using backend = await sandboxBackend();
  await using proxy = await FaultProxy.start({ serverUrl: backend.sandbox.url });
  const directory = await mkdtemp(join(tmpdir(), 'watch-errors-'));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, proxy.kubeconfig);
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
      flags: { 'kube-config': kubeconfig },
    });
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await world.create('configmaps', item('a'));
    await world.converge();
    const page = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${world.daemon.httpPort}${path}`)).text();
    const labels = '{module="",hook="items.sh",binding="items",queue="items",kind="ConfigMap"';
    expect(await page('/readyz')).toBe('Startup converge done.\n');
    expect(await page('/metrics')).toMatch(
      new RegExp(`watch_last_activity_timestamp_seconds\\${labels}\\} \\d{10}`),
    );
    const rule = proxy.add(
      { verb: 'watch', path: /configmaps$/, query: /item/ },
      { type: 'status', status: 403 },
    );
    proxy.resetConnections();
    await rule.untilHit(1);
    const warning =
      /global hook 'items\.sh', kubernetes binding 'items' has a snapshot that was confirmed \d+ s ago: .* 403 Forbidden/;
    await vi.waitFor(async () => expect(await page('/readyz')).toMatch(warning), PATIENCE);
    expect(await page('/metrics')).toContain(`watch_failing${labels},reason="forbidden"} 1`);
    const explained = await runInWorld(world, 'explain', 'module', 'web');
    expect(explained.stdout).toMatch(warning);
    const { stdout } = await runInWorld(world, 'global', 'snapshots', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      'items.sh': {
        items: { snapshot: [{ filterResult: 'a' }], watchFailure: { error: expect.stringContaining('403') } },
      },
    });
    proxy.remove(rule);
    await vi.waitFor(async () => {
      world.clock.jump(1_000);
      expect(await page('/readyz')).toBe('Startup converge done.\n');
    }, PATIENCE);
  } finally {
    await rm(directory, { recursive: true });
  }
});
