import type { WatchedPage } from './watched-page.ts';

/** Each page that there is in any world, for a module `web`, by its path below `/ui/`; runs have pages of their own besides. */
export const PAGES: readonly string[] = [
  '',
  'queues',
  'queues/main',
  'modules',
  'modules/web/why',
  'modules/web/runs',
  'modules/web/objects',
  'modules/web/changes',
  'modules/web/values',
  'modules/web/hooks',
  'runs',
  'timeline',
  'next',
  'graph',
  'about',
  'docs',
];

/** Waits until the page has everything that it shows. */
export async function settled({ page }: WatchedPage): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}

/** Goes to a page of the same server, as a bookmark does: the tab has the token already. */
export async function goTo(watched: WatchedPage, path: string): Promise<void> {
  const { pathname } = new URL(watched.page.url());
  const base = pathname.slice(0, pathname.indexOf('/ui/') + '/ui/'.length);
  await watched.page.goto(new URL(base + path, watched.page.url()).href);
  await settled(watched);
}

/** Opens one page after another, and says what a person reads there. */
export async function* openPages(
  watched: WatchedPage,
  paths: readonly string[],
): AsyncGenerator<{ readonly path: string; readonly text: string }> {
  for (const path of paths) {
    await goTo(watched, path);
    yield { path, text: await watched.text() };
  }
}
