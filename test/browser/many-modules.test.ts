import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserLab, describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo } from '../support/browser/pages.ts';
import { pageUrl, UiWorld } from '../support/browser/ui-world.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const SOON = { timeout: 60_000 };
const LONG_NAME = `web-${'a'.repeat(40)}`;
const NAMES = ['first', 'blocked', ...Array.from({ length: 57 }, (_, index) => `m${index}`), LONG_NAME];

/** Sixty modules of which the second one blocks the queue, in a cluster with a name. */
describeBrowser('the page with sixty modules', (lab) => {
  let ui: UiWorld;
  beforeAll(async () => {
    ui = await startMany(lab());
    await ui.address();
  });
  afterAll(() => ui?.[Symbol.asyncDispose]());

  test('the list has the problem first, those behind it as one row that opens, and what is in the filters', async () => {
    await using opened = await lab().open(pageUrl(await ui.address(), 'modules'));
    const { page } = opened;
    const rows = page.locator('.modules-table tbody tr');
    await rows.filter({ hasText: '58 wait behind blocked' }).waitFor(SOON);
    expect(await rows.first().innerText()).toMatch(/^blocked\s+failing\s+for \d+/);
    expect(await rows.count()).toBe(3);

    await page.getByRole('button', { name: /58 wait behind blocked/ }).click();
    await expect.poll(() => rows.count(), SOON).toBe(61);
    // Names are in full, in the title at least.
    await page.getByTitle(LONG_NAME).first().waitFor();

    await page.getByRole('button', { name: 'failing 1' }).click();
    await expect.poll(() => rows.count(), SOON).toBe(1);
    expect(new URL(page.url()).search).toBe('?status=failing');
    await page.getByRole('button', { name: 'failing 1' }).click();
    await page.getByRole('button', { name: 'run order' }).click();
    await expect.poll(() => rows.first().innerText(), SOON).toContain('first');
  });

  test('on a phone the list says why a module fails', async () => {
    const viewport = { width: 390, height: 844 };
    await using opened = await lab().open(pageUrl(await ui.address(), 'modules'), { viewport });
    const row = opened.page.locator('.modules-table tbody tr').first();
    const reason = row.locator('th').getByText('the disk is full');
    await reason.waitFor(SOON);
    expect(await reason.isVisible()).toBe(true);
    expect(await opened.overflow()).toBe(0);
    expect(await opened.accessibilityProblems()).toEqual([]);
  });

  test('the header and the tab say which cluster it is, and that something is wrong', async () => {
    await using opened = await lab().open(pageUrl(await ui.address(), 'queues'));
    const { page } = opened;
    await expect.poll(() => page.title(), SOON).toBe('✖ Queues · prod-eu');
    expect(await page.locator('.side .brand').innerText()).toMatch(/^prod-eu\s+\S+ · \d/);
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    expect(decodeURIComponent(icon ?? '')).toContain('#b02318');
  });

  test('equal ticks that wait are one task with their number', async () => {
    // Its first run hangs.
    const hook = shHook('schedule: [{name: tick, crontab: "* * * * * *", queue: ticks}]', 'exec sleep 1000');
    await using other = await UiWorld.create(lab().backend, { globalHooks: { 'tick.sh': hook } });
    other.launch();
    await using opened = await lab().open(pageUrl(await other.address(), 'queues/ticks'));
    await opened.page.locator('strong', { hasText: /×\d/ }).waitFor(SOON);
    expect(await opened.page.locator('.tasks > li').count()).toBe(2);
  });

  test('the search opens although it was closed in the same moment', async () => {
    await using opened = await lab().open(pageUrl(await ui.address()));
    const { page } = opened;
    await goTo(opened, '');
    await page.keyboard.press('/');
    await page.getByRole('combobox').waitFor(SOON);
    // The browser reports the end of a dialog later than the next key.
    await page.evaluate(`document.querySelector('dialog.search').close();
document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))`);
    await page.keyboard.type('m7');
    await page.getByRole('option', { name: 'm7' }).first().waitFor(SOON);
    expect(await page.getByRole('combobox').inputValue()).toBe('m7');
  });

  test('the search finds modules, hooks, queues and documentation, by keyboard alone', async () => {
    await using opened = await lab().open(pageUrl(await ui.address()));
    const { page } = opened;
    await goTo(opened, '');
    await page.keyboard.press('/');
    await page.keyboard.type('disk.sh');
    const options = page.getByRole('option');
    await options.filter({ hasText: 'blocked/hooks/disk.sh' }).waitFor(SOON);
    expect(await opened.accessibilityProblems()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor(SOON);
    await page.keyboard.type('m7');
    await options.filter({ hasText: 'm7' }).first().waitFor(SOON);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname, SOON).toBe('/ui/modules/m7');

    await page.keyboard.press('/');
    await page.getByRole('combobox').waitFor(SOON);
    await page.keyboard.type('HELM_LOCKED');
    await options.filter({ hasText: 'Documentation' }).first().waitFor(SOON);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^docs\// }).waitFor(SOON);
    expect(await page.locator('#section').innerText()).toContain('HELM_LOCKED');
  });
});

async function startMany({ backend }: BrowserLab): Promise<UiWorld> {
  const modules: FileTree = Object.fromEntries(
    NAMES.flatMap((name, index) =>
      Object.entries(under(`${index + 10}-${name}`, configMapChart(name, name))),
    ),
  );
  const ui = await UiWorld.create(backend, {
    modules: {
      ...modules,
      'values.yaml': NAMES.map((name) => `${camel(name)}Enabled: true\n`).join(''),
      '11-blocked/hooks/disk.sh': shHook('beforeHelm: 1', 'echo "the disk is full" >&2; exit 1'),
    },
    config: { global: 'clusterName: prod-eu\n' },
    flags: { 'module-objects': 'false' },
  });
  ui.launch();
  return ui;
}

function camel(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
