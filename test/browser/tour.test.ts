import { readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm, pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { commandsNamed } from '../docs/command-blocks.ts';
import { Terminal } from '../docs/terminal.ts';
import { describeBrowser } from '../support/browser/browser-suite.ts';

/** What the end screen of `npm start` says last. */
const STARTED = 'What happens from now on';
const SOON = { timeout: 60_000 };
const never = new AbortController().signal;

/** The README's tour, followed on the page, which is opened once. */
describeBrowser('the tour of the README on the page', (lab) => {
  test('a failing hook is named with its countdown, and after it is fixed all is well, without a reload', async () => {
    const cacheDir = cacheDirectory(process.env, homedir());
    const [helm, kubectl] = await Promise.all([
      pinnedHelm(3, { cacheDir }, never),
      pinnedKubectl({ cacheDir, onProgress: () => undefined }, never),
    ]);
    const terminal = await Terminal.open({ helm, kubectl });
    const daemon = await terminal.startCommands('exec bin/addon-operator sandbox --ui-port 0', STARTED);
    const [address = ''] = /http:\S+\/ui\/#token=\S+/.exec(daemon.output) ?? [];
    const file = join(terminal.directory, '.sandbox/debug.socket.ui');
    expect(address).toBe((await readFile(file, 'utf8')).trim());

    await using opened = await lab().open(address);
    const { page } = opened;
    let loads = 0;
    page.on('load', () => (loads += 1));
    const headline = page.locator('section.headline');
    await headline.getByText('All is well').waitFor(SOON);
    expect(page.url()).not.toContain('token');

    const [failing = ''] = commandsNamed('tour-failing').split(/^sleep/m);
    await terminal.run(failing);
    const failed = /main waits .* to try global hook greeting\.sh again[^]*No such file or directory/;
    await expect.poll(async () => await headline.innerText(), SOON).toMatch(failed);
    await page
      .getByRole('row', { name: /failed.*greeting\.sh/ })
      .first()
      .waitFor(SOON);
    const count = headline.locator('.count');
    const seen = new Set<string>();
    await expect
      .poll(async () => seen.add((await count.allInnerTexts())[0] ?? '').size, { ...SOON, interval: 200 })
      .toBeGreaterThan(2);

    const [fixing = ''] = commandsNamed('tour-fixed').split(/^sleep/m);
    await terminal.run(fixing);
    await headline.getByText('All is well').waitFor(SOON);
    // What waited behind the hook has run since then, and the first page shows ten runs.
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page
      .getByRole('row', { name: /succeeded.*greeting\.sh/ })
      .first()
      .waitFor(SOON);
    expect(loads).toBe(0);
    await rm(join(terminal.directory, '.sandbox/greeting'));
  });
});
