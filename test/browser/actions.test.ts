import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo, settled } from '../support/browser/pages.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import type { WatchedPage } from '../support/browser/watched-page.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const SOON = { timeout: 30_000 };
const HOOK = 'web/hooks/hang.sh';

/** Words of letters that the page shows on two lines. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const nodes = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode())
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  return broken;
})()`;

describeBrowser('actions on the page', (lab) => {
  test('a failing hook is retried, and one that hangs is dropped after a confirmation, beside where each is shown', async () => {
    await using world = await World.create(lab().backend, {
      flags: { ...UI_FLAGS, 'ui-actions': 'true' },
      modules: {
        'values.yaml': 'webEnabled: true\ndnsEnabled: true\n',
        '001-web/hooks/disk.sh': shHook(
          'beforeHelm: 1',
          '[ -e "$WORLD/disk" ] || { echo no disk >&2; exit 1; }',
        ),
        '001-web/hooks/hang.sh': shHook(
          'kubernetes: [{name: maps, kind: ConfigMap, queue: hang, nameSelector: {matchNames: [start]}}]',
          'grep -q Synchronization "$BINDING_CONTEXT_PATH" || exec sleep 600',
        ),
        '002-dns/hooks/ready.sh': shHook('beforeHelm: 1', 'true'),
      },
    });
    await world.start();
    await world.untilDelayed();
    await using opened = await lab().open(pageUrl(await uiAddress(world)));
    const { page } = opened;
    await settled(opened);

    const headline = page.locator('section.headline');
    await headline.getByText('no disk').first().waitFor(SOON);
    const shown = await headline.innerText();
    expect(shown).toMatch(/to try the run of module web again/u);
    expect(shown).toMatch(/for \d+ (?:s|min)/u);
    expect(shown).toContain('module pause web --reason WHY');
    expect(shown).toContain('Retry now: Ends the delay after a failure');
    expect(await hrefs(page, 'section.headline')).toEqual(
      expect.arrayContaining(['modules/web', 'queues/main', 'runs?module=web&hook=hooks%2Fdisk.sh']),
    );
    expect(await page.getByTitle('ModuleRun', { exact: true }).count()).toBeGreaterThan(0);
    await noViolations(opened, ['', 'queues', 'modules/dns/why', 'modules/web/hooks']);

    await goTo(opened, 'queues');
    await goTo(opened, 'modules/web/why');
    expect(await page.locator('section.headline').innerText()).toMatch(/^beforeHelm hooks failed/u);
    await world.write('modules', { '../disk': '' });
    await page.locator('section.headline').getByRole('button', { name: 'Retry now (queue main)' }).click();
    await page.getByText('The last run succeeded').waitFor(SOON);
    await goTo(opened, '');
    await page.locator('section.headline.ok').waitFor(SOON);

    const { running } = world.daemon.operator.execution;
    await world.create('configmaps', { metadata: { name: 'start' } });
    await vi.waitFor(() => expect(running.all.map(({ hook }) => hook.name)).toEqual(['hooks/hang.sh']), WAIT);
    world.clock.jump(11 * 60_000);
    await goTo(opened, '');
    const drop = page.getByRole('button', { name: `Drop the hook run (hook ${HOOK})` });
    const dialog = page.getByRole('dialog');
    await drop.click(SOON);
    expect(await dialog.innerText()).toContain('its event or tick is not repeated');
    await noViolationsHere(opened);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(running.all).toHaveLength(1);
    await drop.click();
    await dialog.getByLabel('Reason').fill('it hangs');
    await dialog.getByRole('button', { name: 'Drop the hook run' }).click();
    await vi.waitFor(() => expect(running.all).toEqual([]), WAIT);
    await page.locator('section.headline.ok').waitFor(SOON);

    await page.setViewportSize({ width: 1_440, height: 900 });
    await goTo(opened, 'about');
    const actions = page.getByRole('table', { name: 'Requested actions' });
    expect(await actions.innerText()).toMatch(
      /drop-hook hook web\/hooks\/hang\.sh[^]*it hangs[^]*retry queue main/u,
    );
    expect(await page.evaluate<string[]>(BROKEN_WORDS)).toEqual([]);
    await noViolationsHere(opened);
  });

  test('a page that only reads has advice and no buttons', async () => {
    await using world = await World.create(lab().backend, {
      flags: UI_FLAGS,
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/disk.sh': shHook('beforeHelm: 1', 'echo no disk >&2; exit 1'),
      },
    });
    await world.start();
    await world.untilDelayed();
    await using opened = await lab().open(pageUrl(await uiAddress(world)));
    await settled(opened);
    const headline = opened.page.locator('section.headline');
    await headline.getByText('addon-operator queue retry main').waitFor(SOON);
    expect(await headline.getByRole('button').count()).toBe(0);
  });
});

/** Addresses of links below the base. */
async function hrefs(page: Page, selector: string): Promise<readonly string[]> {
  const links = await page.locator(`${selector} a`).evaluateAll((found) => found.map((link) => String(link)));
  return links.map((href) => href.slice(href.indexOf('/ui/') + '/ui/'.length));
}

async function noViolations(opened: WatchedPage, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await goTo(opened, path);
    await noViolationsHere(opened);
  }
}

/** By axe, in both themes. */
async function noViolationsHere(opened: WatchedPage): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await opened.page.emulateMedia({ colorScheme });
    expect([opened.page.url(), await opened.accessibilityProblems()]).toEqual([opened.page.url(), []]);
  }
}
