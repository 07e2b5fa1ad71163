import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../backends.ts';
import { findChromium } from './find-chromium.ts';
import { WatchedPage } from './watched-page.ts';

const executablePath = findChromium(process.env);
/** Of a worker: its files share it. It ends with the process. */
let shared: Promise<Browser> | undefined;

/** What tests of the page have. */
export interface BrowserLab {
  readonly backend: SandboxBackend;
  /** Opens a page in a context of its own: nothing is stored from other tests. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<WatchedPage>;
}

/** Why there is no browser, for names of tests that are skipped then; empty with one. */
export const NO_BROWSER = executablePath === undefined ? ' (no Chromium in PATH)' : '';

/** Opens a page in a context of its own. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
  return await WatchedPage.open(context, url);
}

/** Tests in a real Chromium, with a sandbox of their own. Without a Chromium they are skipped, and their names say why. */
export function describeBrowser(name: string, suite: (lab: () => BrowserLab) => void): void {
  describe.skipIf(NO_BROWSER !== '')(`${name}${NO_BROWSER}`, () => {
    let lab: BrowserLab;
    beforeAll(async () => {
      lab = { backend: await sandboxBackend(), open: openPage };
    });
    afterAll(() => lab.backend[Symbol.asyncDispose]());

    suite(() => lab);
  });
}

async function sharedBrowser(): Promise<Browser> {
  shared ??= chromium.launch({
    executablePath: executablePath ?? '',
    // Its own sandbox needs rights that containers of CI do not have; it shows our own pages only.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  return await shared;
}
