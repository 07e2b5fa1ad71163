import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { FaultRule } from '../support/fault-rule.ts';
import { item, itemsHook, untilSeen } from '../support/items-hook.ts';
import { World } from '../support/world.ts';

const PATIENCE = { timeout: 20_000, interval: 20 };
const ITEMS_WATCH = { verb: 'watch', path: /configmaps$/, query: /item/, times: 1 } as const;
/** After this nobody believes in a watch that says nothing. */
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

test('watches that end before their time are counted by what went wrong, and nothing is missed', async () => {
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
