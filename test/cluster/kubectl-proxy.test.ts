import { homedir, networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { NO_BROWSER, openPage } from '../support/browser/browser-suite.ts';
import { PageProxy } from '../support/browser/page-proxy.ts';
import { goTo, PAGES, settled } from '../support/browser/pages.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { StartedCommand } from '../support/started-command.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 120_000, interval: 200 };

/** Of this machine: the API server connects to no loopback address. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address;
const why = address === undefined ? ' (this machine has loopback addresses only)' : NO_BROWSER;

describeCluster('the page through `kubectl proxy` and the API server', (cluster) => {
  test.skipIf(why !== '')(
    `every page works below the path of a pod, is live, and runs a module${why}`,
    async () => {
      await using world = await World.create(await controlPlaneBackend(cluster()), {
        modules: {
          'values.yaml': 'webEnabled: true\n',
          ...under('001-web', configMapChart('web', 'web')),
          '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
        },
        globalHooks: {
          'fail.sh': shHook(
            'kubernetes: [{name: maps, kind: ConfigMap, queue: side, nameSelector: {matchNames: [start]}}]',
            'if grep -q Added "$BINDING_CONTEXT_PATH"; then echo no network >&2; exit 1; fi',
          ),
        },
        flags: { ...UI_FLAGS, 'ui-actions': 'true' },
      });
      await world.converge();
      const { origin, token } = await uiAddress(world);
      // Does what docs/ui.md asks of a proxy in the pod of the operator.
      await using inPod = await PageProxy.start(origin, { address: address ?? '', host: 'localhost' });
      await createPod(world, address ?? '');
      const kubectl = await pinnedKubectl(
        { cacheDir: cacheDirectory(process.env, homedir()) },
        new AbortController().signal,
      );
      const args = ['--kubeconfig', world.backend.kubeconfigPath, 'proxy', '--port', '0'];
      const command = new StartedCommand(kubectl, args, { PATH: process.env['PATH'] });
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(async () => {
        command.kill('SIGKILL');
        await command.exitCode;
      });
      const started = /Starting to serve on (\S+)/;
      await command.until(started);
      const [, served = ''] = started.exec(command.output) ?? [];
      const pod = `http:operator:${new URL(inPod.url).port}`;
      const prefix = `/api/v1/namespaces/${world.namespace}/pods/${pod}/proxy`;

      await using opened = await openPage(pageUrl({ origin: `http://${served}${prefix}`, token }));
      const { page } = opened;
      await settled(opened);
      for (const path of PAGES) {
        await goTo(opened, path);
        expect([path, new URL(page.url()).pathname]).toEqual([path, `${prefix}/ui/${path}`]);
        const outside = (await opened.links()).filter(
          (href) => !href.startsWith(`${prefix}/ui/`) && !href.startsWith('#'),
        );
        expect([path, outside]).toEqual([path, []]);
      }
      const refused = inPod.requests.filter(({ status }) => status >= 400);
      expect(refused.map(({ path, status }) => `${status} ${path}`)).toEqual([]);

      await goTo(opened, '');
      await world.create('configmaps', { metadata: { name: 'start' } });
      await page.locator('section.headline').getByText('no network').first().waitFor();
      expect(inPod.streams.length).toBeGreaterThan(0);

      await goTo(opened, 'modules/web/why');
      await page.getByRole('button', { name: 'Run now' }).click();
      await expect
        .poll(() => inPod.requests.filter(({ method }) => method === 'POST'), WAIT)
        .toMatchObject([{ path: '/api/v1/modules/web/actions', status: 202 }]);
    },
  );
});

/** A pod without a container: only its address counts. */
async function createPod(world: World, podIP: string): Promise<void> {
  const spec = {
    containers: [{ name: 'operator', image: 'none' }],
    // No scheduler and no service account is asked.
    schedulerName: 'none',
    automountServiceAccountToken: false,
  };
  const pods = `/api/v1/namespaces/${world.namespace}/pods`;
  await world.expect({ method: 'POST', path: pods, body: { metadata: { name: 'operator' }, spec } });
  await world.expect({
    method: 'PATCH',
    path: `${pods}/operator/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } },
  });
}
