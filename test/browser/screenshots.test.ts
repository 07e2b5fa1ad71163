import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunList } from '../../src/journal/run-view.ts';
import { LISTS } from '../../ui/lib/places.ts';
import { projectRoot } from '../checks/checkout.ts';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo, PAGES, settled } from '../support/browser/pages.ts';
import { pageUrl } from '../support/browser/ui-world.ts';
import { variedWorld } from '../support/browser/varied-world.ts';

const IMAGES = join(projectRoot, 'docs/images');
const MAX_BYTES = 130_000;
const WINDOW = { width: 960, height: 600 };
/** A picture by the page that it shows; `RUN` means a run that failed. */
const PICTURES: Readonly<Record<string, string>> = {
  'ui-now': '',
  'ui-queues': 'queues',
  'ui-modules': 'modules',
  'ui-why': 'modules/database/why',
  'ui-changes': 'modules/web/changes',
  'ui-values': 'modules/web/values',
  'ui-runs': 'runs',
  'ui-run': 'runs/RUN',
  'ui-timeline': 'timeline',
  'ui-next': 'next',
  'ui-graph': 'graph',
  'ui-about': 'about',
};
const NAMES = [...Object.keys(PICTURES), 'ui-now-dark'];

/** The pictures of docs/ui.md. `UPDATE_SCREENSHOTS=1` takes them anew; they show times, so that they differ each time. */
test.skipIf(process.env['UPDATE_SCREENSHOTS'] === '1')(
  'docs/ui.md shows a small picture of each page',
  async () => {
    const page = await readFile(join(projectRoot, 'docs/ui.md'), 'utf8');
    for (const name of NAMES) {
      expect(page).toContain(`](images/${name}.png)`);
      expect((await stat(join(IMAGES, `${name}.png`))).size).toBeLessThanOrEqual(MAX_BYTES);
    }
  },
);

test('each page of the navigation has a picture, and the browser tests open it', () => {
  // Searches lead to the documentation, not the navigation.
  const navigation = LISTS.filter((list) => list !== 'docs');
  expect(Object.values(PICTURES)).toEqual(expect.arrayContaining(navigation));
  expect(PAGES).toEqual(expect.arrayContaining([...LISTS]));
});

// A test that is skipped in each run of the gate would hide others.
// oxlint-disable-next-line vitest/no-conditional-tests
if (process.env['UPDATE_SCREENSHOTS'] === '1')
  describeBrowser('pictures of the page', (lab) => {
    test('each page is taken', async () => {
      await using ui = await variedWorld(lab().backend);
      const { runs } = await ui.api<RunList>('runs?module=database&result=failed&limit=1');
      await using opened = await lab().open(pageUrl(await ui.address()), {
        viewport: WINDOW,
        colorScheme: 'light',
      });
      await settled(opened);
      await mkdir(IMAGES, { recursive: true });
      const take = async (name: string): Promise<void> => {
        const image = await opened.page.screenshot({ animations: 'disabled' });
        expect([name, image.length <= MAX_BYTES]).toEqual([name, true]);
        await writeFile(join(IMAGES, `${name}.png`), image);
      };
      for (const [name, path] of Object.entries(PICTURES)) {
        await goTo(opened, path.replace('RUN', runs[0]?.id ?? ''));
        await take(name);
      }
      await goTo(opened, '');
      await opened.page.emulateMedia({ colorScheme: 'dark' });
      await take('ui-now-dark');
    });
  });
