import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunList } from '../../src/journal/run-view.ts';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { PageProxy } from '../support/browser/page-proxy.ts';
import { openPages, PAGES, settled } from '../support/browser/pages.ts';
import { pageUrl, type UiWorld } from '../support/browser/ui-world.ts';
import { variedWorld } from '../support/browser/varied-world.ts';
import type { WatchedPage } from '../support/browser/watched-page.ts';

const SMALL = { width: 320, height: 640 };
const WAIT = { timeout: 60_000, interval: 100 };
const SPEAK_MS = 5_000;
/** A busy machine may stop the page between the moment that it notes and the change of its text. */
const TOLERANCE_MS = 1_000;
const MANY_TABS = 60;

/** Who cannot use a mouse, see colours or movement, or has a small screen. */
describeBrowser('the accessibility of the page', (lab) => {
  let ui: UiWorld;
  let paths: readonly string[] = [];
  beforeAll(async () => {
    ui = await variedWorld(lab().backend);
    const { runs } = await ui.api<RunList>('runs?result=failed&limit=1');
    paths = [
      ...PAGES,
      `runs/${runs[0]?.id ?? ''}`,
      'modules/database/why',
      'docs?page=hooks.md',
      'no/such/page',
    ];
  });
  afterAll(async () => {
    await ui?.[Symbol.asyncDispose]();
  });

  async function open(): Promise<WatchedPage> {
    const page = await lab().open(pageUrl(await ui.address()));
    await settled(page);
    return page;
  }

  test('no page scrolls sideways in a window of 320 pixels', async () => {
    await using page = await open();
    await page.page.setViewportSize(SMALL);
    const wider: string[] = [];
    for await (const { path } of openPages(page, paths)) {
      const pixels = await page.overflow();
      if (pixels > 0) wider.push(`/ui/${path} by ${pixels} pixels: ${await page.widest()}`);
    }
    expect(wider).toEqual([]);
  });

  test('nothing moves when less movement is wanted', async () => {
    await using page = await open();
    await page.page.emulateMedia({ reducedMotion: 'reduce' });
    for await (const { path } of openPages(page, ['', 'queues', 'modules', 'modules/database/why']))
      expect([
        path,
        await page.page.evaluate(
          "document.getAnimations().filter(({ playState }) => playState === 'running').length",
        ),
      ]).toEqual([path, 0]);
  });

  test('the way from the sentence to its reason is walked by keyboard, and the focus is seen all the time', async () => {
    await using page = await open();
    const { keyboard } = page.page;
    await keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ text: 'Skip to the content', isSeen: true });
    await tabTo(page, 'Modules');
    await keyboard.press('Enter');
    await page.page.waitForURL('**/ui/modules');
    await settled(page);
    expect(await focused(page)).toMatchObject({ tag: 'H1' });
    await tabTo(page, 'database');
    await keyboard.press('Enter');
    await page.page.waitForURL('**/ui/modules/database*');
    await page.page.locator('main').getByText('no route to host').first().waitFor();
    // On a busy machine the second key may be too late.
    await expect
      .poll(async () => {
        await keyboard.press('g');
        await keyboard.press('r');
        return new URL(page.page.url()).pathname;
      }, WAIT)
      .toBe('/ui/runs');
    await page.page.goBack();
    await page.page.waitForURL('**/ui/modules/database*');
  });

  test('screen readers are spoken to at most every five seconds, however often the state changes', async () => {
    const { origin, token } = await ui.address();
    await using proxy = await PageProxy.start(origin);
    await using page = await lab().open(pageUrl({ origin: proxy.url, token }));
    await settled(page);
    await page.page.evaluate(`globalThis.spoken = [];
      for (const region of document.querySelectorAll('output, [aria-live], [role="status"]'))
        new MutationObserver(() => spoken.push([performance.now(), region.textContent])).observe(
          region, { childList: true, characterData: true, subtree: true });`);
    const spoken = async () =>
      await page.page.evaluate<readonly (readonly [number, string])[]>('globalThis.spoken');
    let changes = 0;
    const change = async (): Promise<number> => {
      changes += 1;
      const at = new Date().toISOString();
      const headline = { at, level: 'waiting', text: `state ${changes}`, problems: [], details: [], more: 0 };
      proxy.send(`event: headline\ndata: ${JSON.stringify(headline)}\n\n`);
      return (await spoken()).length;
    };
    await expect.poll(change, { ...WAIT, interval: 500 }).toBeGreaterThan(2);
    const times = (await spoken()).map(([ms]) => ms);
    const gaps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
    expect(gaps.filter((ms) => ms < SPEAK_MS - TOLERANCE_MS)).toEqual([]);
    expect(changes).toBeGreaterThan(times.length);
  });
});

interface Focused {
  readonly tag: string;
  readonly text: string;
  readonly isSeen: boolean;
}

async function focused({ page }: WatchedPage): Promise<Focused> {
  return await page.evaluate<Focused>(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const isMarked = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    return {
      tag: element.tagName,
      text: element.textContent.trim(),
      isSeen: isMarked && box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0,
    };
  })()`);
}

/** Goes on with the tabulator until an element with this text has the focus. */
async function tabTo(page: WatchedPage, text: string): Promise<void> {
  const passed: string[] = [];
  for (let tab = 0; tab < MANY_TABS; tab += 1) {
    await page.page.keyboard.press('Tab');
    const now = await focused(page);
    expect(now).toMatchObject({ isSeen: true });
    if (now.text === text) return;
    passed.push(now.text);
  }
  throw new Error(`the focus did not come to "${text}", but to ${passed.join(', ')}`);
}
