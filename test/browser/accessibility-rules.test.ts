import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunList } from '../../src/journal/run-view.ts';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { openPages, PAGES, settled } from '../support/browser/pages.ts';
import { pageUrl, type UiWorld } from '../support/browser/ui-world.ts';
import { variedWorld } from '../support/browser/varied-world.ts';

/** In the order in which they are looked at; what does not depend on colours is looked at once. */
const MEDIA = [
  { name: 'light', colorScheme: 'light', forcedColors: 'none', rules: undefined },
  {
    name: 'dark',
    colorScheme: 'dark',
    forcedColors: 'none',
    rules: ['color-contrast', 'link-in-text-block'],
  },
  { name: 'forced colours', colorScheme: 'dark', forcedColors: 'active', rules: ['color-contrast'] },
] as const;

/** What axe can see of it. */
describeBrowser('the accessibility of the page by its rules', (lab) => {
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

  test('axe finds no violation of WCAG 2.2 AA on any page, light, dark and with forced colours', async () => {
    await using page = await lab().open(pageUrl(await ui.address()));
    await settled(page);
    const found: string[] = [];
    for await (const { path } of openPages(page, paths)) {
      for (const { name, rules, ...media } of MEDIA) {
        await page.page.emulateMedia(media);
        const problems = await page.accessibilityProblems(rules);
        found.push(...problems.map((problem) => `/ui/${path} (${name}): ${problem}`));
      }
    }
    expect(found).toEqual([]);
  });

  test('axe finds no violation on the page without a token, and it says what to do', async () => {
    const { origin } = await ui.address();
    await using page = await lab().open(`${origin}/ui/modules`);
    await settled(page);
    expect(await page.text()).toContain('addon-operator ui');
    for (const { name: _name, rules, ...media } of MEDIA) {
      await page.page.emulateMedia(media);
      expect(await page.accessibilityProblems(rules)).toEqual([]);
    }
  });
});
