import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo } from '../support/browser/pages.ts';
import { type GetModule, kubectlGetModule, untilShown } from '../support/browser/shown-cause.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { moduleWorld, readModule } from '../support/module-world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 120_000, interval: 200 };
/** After this a watch that fails makes its snapshot an old one. */
const STALE_MS = 61_000;
const NAMES = ['denied', 'old', 'changed'];

/** Watches one ConfigMap, in a queue of its own. */
function watching(map: string): string {
  return shHook(
    `kubernetes: [{name: ${map}, kind: ConfigMap, apiVersion: v1, queue: side, nameSelector: {matchNames: [${map}]}}]`,
    'true',
  );
}

/** What the cluster does to modules that were ready has one cause everywhere, too. */
describeBrowser('the page, when the cluster is in the way', (lab) => {
  let getModule: GetModule;
  beforeAll(async () => {
    getModule = await kubectlGetModule();
  });

  test('a missing permission, drift that cannot be corrected, and a watch that fails', async () => {
    const { backend } = lab();
    await using proxy = await FaultProxy.start({ serverUrl: backend.sandbox.url });
    const directory = await mkdtemp(join(tmpdir(), 'cluster-situations-'));
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => rm(directory, { recursive: true }));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, proxy.kubeconfig);
    await using made = await moduleWorld(
      backend,
      {
        flags: { ...UI_FLAGS, 'kube-config': kubeconfig },
        modules: {
          'values.yaml': NAMES.map((name) => `${name}Enabled: true\n`).join(''),
          '001-denied/hooks/a.sh': watching('secret-map'),
          '002-old/hooks/a.sh': watching('old-map'),
          ...under('003-changed', configMapChart('changed', 'changed')),
          '003-changed/module.yaml': 'drift: {mode: heal}\n',
        },
      },
      NAMES,
    );
    const { world } = made;
    await world.converge();
    for (const name of NAMES)
      await vi.waitFor(async () => {
        const ready = expect.objectContaining({ type: 'Ready', status: 'True' });
        expect((await readModule(world, name))?.status?.conditions).toContainEqual(ready);
      }, WAIT);
    await using page = await lab().open(pageUrl(await uiAddress(world)));
    const on = { world, page, getModule };

    proxy.add({ path: /configmaps$/, query: /secret-map/ }, { type: 'status', status: 403 });
    const failing = proxy.add({ path: /configmaps$/, query: /old-map/ }, { type: 'status', status: 500 });
    proxy.add(
      { verb: 'patch', path: /configmaps\/changed$/u, query: /^(?!.*dryRun)/u },
      { type: 'status', status: 403 },
    );
    proxy.resetConnections();
    await world.merge('configmaps', 'changed', { data: { values: 'of another client' } });
    await untilShown(on, 'denied', {
      status: 'held-up',
      node: 'synchronized',
      text: "kubernetes binding 'secret-map'",
    });
    await untilShown(on, 'changed', { status: 'held-up', node: 'ready', text: 'ConfigMap/changed' });
    // A jump ends requests in progress, so nothing else is to be written then.
    await failing.untilHit();
    world.clock.jump(STALE_MS);
    const stale = untilShown(on, 'old', {
      status: 'held-up',
      node: 'synchronized',
      text: "kubernetes binding 'old-map'",
    });
    await expect(stale).resolves.toBeUndefined();
    await goTo(page, 'modules');
    for (const text of [
      "kubernetes binding 'secret-map'",
      "kubernetes binding 'old-map'",
      'ConfigMap/changed',
    ])
      await page.page.getByRole('table').locator('td').getByText(text).first().waitFor();
  });
});
