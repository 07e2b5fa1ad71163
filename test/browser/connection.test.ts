import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunList } from '../../src/journal/run-view.ts';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { PageProxy } from '../support/browser/page-proxy.ts';
import { goTo, PAGES, settled } from '../support/browser/pages.ts';
import { pageUrl, UiWorld } from '../support/browser/ui-world.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const CUT_MS = 2_000;
const CUTS = 4;
/** What Chromium says on its console about a server that is not there, or a connection that was reset. */
const NO_SERVER = /^console: Failed to load resource: net::ERR_/;

/** What is between the page and the operator: restarts, cuts, prefixes, tabs that nobody sees. */
describeBrowser('the connection of the page', (lab) => {
  let ui: UiWorld;
  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    ui = await UiWorld.create(lab().backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
      },
      globalHooks: {
        'tick.sh': shHook(
          'schedule: [{name: tick, crontab: "* * * * * *", queue: ticks}]',
          '[ ! -e "$WORLD/stopped" ] || { : > "$WORLD/held"; sleep 600; }',
        ),
      },
      flags: { 'ui-port': String(port) },
    });
    ui.launch();
    await ui.daemon.untilConverged();
  });
  afterAll(async () => {
    await ui?.[Symbol.asyncDispose]();
  });

  test('every page and every deep link works behind a proxy with a prefix', async () => {
    const { origin, token } = await ui.address();
    await using proxy = await PageProxy.start(origin, { prefix: '/a/b' });
    await using page = await lab().open(pageUrl({ origin: proxy.url, token }));
    await settled(page);
    for (const path of PAGES) {
      await goTo(page, path);
      expect([path, new URL(page.page.url()).pathname]).toEqual([path, `/a/b/ui/${path}`]);
      const outside = (await page.links()).filter(
        (href) => !href.startsWith('/a/b/ui/') && !href.startsWith('#'),
      );
      expect([path, outside]).toEqual([path, []]);
    }
    expect(
      proxy.requests.filter(({ status }) => status >= 400).map(({ path, status }) => `${status} ${path}`),
    ).toEqual([]);
    await fetch(`${proxy.url}/ui`, { redirect: 'manual' }).then(({ headers }) =>
      expect(new URL(headers.get('location') ?? '', `${proxy.url}/ui`).pathname).toBe('/a/b/ui/'),
    );
  });

  test('a stream that is cut every 2 s loses nothing', async () => {
    const { origin, token } = await ui.address();
    await using proxy = await PageProxy.start(origin);
    await using page = await lab().open(pageUrl({ origin: proxy.url, token }, 'runs'));
    page.expect(NO_SERVER);
    await settled(page);
    for (let cut = 0; cut < CUTS; cut += 1) {
      await page.page.waitForTimeout(CUT_MS);
      // The page waits before it connects again, on a busy machine for longer than until the next cut.
      await expect.poll(() => proxy.openStreams.length, WAIT).toBe(1);
      proxy.cut();
    }
    await ui.world.write('global-hooks', { '../stopped': '' });
    // The run that sleeps is the last one. Those before it may be seen running, too.
    await expect.poll(() => existsSync(join(ui.world.directory, 'held')), WAIT).toBe(true);
    await expect.poll(async () => (await ui.api<RunList>('runs?result=running')).runs.length, WAIT).toBe(1);
    const { runs } = await ui.api<RunList>('runs?limit=50');
    await expect
      .poll(async () => {
        const ids = (await page.links()).flatMap((href) => /\/ui\/runs\/(\d+)$/.exec(href)?.[1] ?? []);
        return [...new Set(ids.map(Number))].toSorted((a, b) => b - a).slice(0, runs.length);
      }, WAIT)
      .toEqual(runs.map(({ id }) => Number(id)));
    await expect.poll(() => proxy.openStreams.length, WAIT).toBe(1);
    expect(proxy.streams.length).toBeGreaterThan(CUTS);
    const resumed = () => proxy.streams.slice(1).filter(({ text }) => text.includes('"isResumed":true'));
    await expect.poll(() => resumed().length, WAIT).toBeGreaterThan(0);
  });

  test('a hidden tab closes its stream, and opens it when it is visible again', async () => {
    const { origin, token } = await ui.address();
    await using proxy = await PageProxy.start(origin);
    await using page = await lab().open(pageUrl({ origin: proxy.url, token }));
    await settled(page);
    await expect.poll(() => proxy.openStreams.length, WAIT).toBe(1);
    await page.setHidden(true);
    await expect.poll(() => proxy.openStreams.length, WAIT).toBe(0);
    await page.setHidden(false);
    await expect.poll(() => proxy.openStreams.length, WAIT).toBe(1);
  });

  test('after kill -9 the page says that there is no connection, and shows the next daemon when it is there', async () => {
    await using page = await lab().open(pageUrl(await ui.address()));
    page.expect(NO_SERVER);
    await settled(page);
    await ui.daemon.kill();
    await page.page.getByText('The operator does not respond.').waitFor();
    await ui.world.write('modules', {
      'values.yaml': 'webEnabled: true\nnewEnabled: true\n',
      '002-new/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
    });
    ui.launch();
    await ui.daemon.untilConverged();
    await page.page.getByText('The operator does not respond.').waitFor({ state: 'hidden' });
    await page.page.getByRole('navigation').getByRole('link', { name: 'Modules' }).click();
    await page.page.getByRole('link', { name: 'new', exact: true }).waitFor();
    expect(await page.text()).not.toContain('The operator does not respond.');
  });
});
