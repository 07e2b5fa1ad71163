import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../test/support/browser/find-chromium.ts';
import { apiOf, pageUrl, UI_FLAGS, type UiAddress, uiAddress } from '../test/support/browser/ui-world.ts';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note, percentile, report } from './figures.ts';
import { type BarePage, startBarePage } from './reference/bare-page.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const MODULES = 500;
const LOADS = 7;
const EVENTS = 60;
/** Longer than a tick of the stream, and no multiple of it. */
const BETWEEN_EVENTS_MS = 610;
/** Ends when rows are there and the main thread is free again; the time since the navigation began. */
const FIRST_ROWS = `globalThis.interactive = new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('main tbody tr') === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  };
  look();
});`;
/** Notes when each failed run, or each time of the reference, is in the document. */
const SEEN = `globalThis.seen = {};
new MutationObserver(() => {
  const now = Date.now();
  for (const row of document.querySelectorAll('main tbody tr')) {
    const id = /runs\\/(\\d+)$/.exec(row.querySelector('a[href*="/runs/"]')?.href ?? '')?.[1];
    if (id !== undefined && row.textContent.includes('failed')) seen[id] ??= now;
  }
  const text = document.querySelector('main > p')?.textContent ?? '';
  if (/^\\d+$/.test(text)) seen[text] ??= now;
}).observe(document.body, { childList: true, characterData: true, subtree: true });`;

/** What a person with a browser waits for, against a bare page in the same browser. */
export async function benchBrowser(): Promise<void> {
  const executablePath = findChromium(process.env);
  if (executablePath === undefined) {
    note('browser: no Chromium in PATH');
    return;
  }
  await using sandbox = await startSandboxProcess();
  const names = Array.from({ length: MODULES }, (_, index) => `mod${index}`);
  await using world = await World.create(sandbox.backend, {
    modules: {
      'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
      ...Object.fromEntries(names.map((name) => [`001-${name}/values.yaml`, `${name}: {}\n`])),
    },
    globalHooks: {
      'fail.sh': shHook(
        `kubernetes: [{name: maps, kind: ConfigMap, queue: fails, allowFailure: true, executeHookOnSynchronization: false,
  nameSelector: {matchNames: [counter]}}]`,
        'echo failed >&2; exit 1',
      ),
    },
    flags: { 'log-level': 'info' },
  });
  await world.create('configmaps', { metadata: { name: 'counter' } });
  await using daemon = DaemonProcess.start(world, { ...UI_FLAGS, 'log-level': 'info' });
  await daemon.untilConverged();
  await daemon.log.until((records) =>
    records.some(({ msg }) => String(msg).startsWith('the page is served')),
  );
  await using bare = await startBarePage();
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const address = await uiAddress(world);
    await benchLoads(browser, address, bare);
    await benchScrolling(browser, address, bare);
    await benchEventsInBrowser(browser, { world, address, bare });
  } finally {
    await browser.close();
  }
}

async function benchLoads(browser: Browser, address: UiAddress, bare: BarePage): Promise<void> {
  const ours: number[] = [];
  const references: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    ours.push(await loadMs(browser, pageUrl(address, 'modules')));
    references.push(await loadMs(browser, bare.url));
  }
  const [own, reference] = [percentile(ours, 0.5), percentile(references, 0.5)];
  report(
    `page with ${MODULES} modules, interactive, nothing cached`,
    `${own.toFixed(0)} ms`,
    `${reference.toFixed(0)} ms`,
    own / reference,
    '<= 500 ms',
  );
}

/** Tasks of the main thread over 50 ms, of which the longest counts; browsers report only those. */
const LONG_TASKS = `globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: 'longtask' });`;
const SCROLLS = 60;

/** Whether the list of modules stutters while a person scrolls through all of it. */
async function benchScrolling(browser: Browser, address: UiAddress, bare: BarePage): Promise<void> {
  const own = await longestTaskMs(browser, pageUrl(address, 'modules'));
  const reference = await longestTaskMs(browser, bare.url);
  report(
    `page with ${MODULES} modules, longest task over 50 ms while scrolling`,
    `${own.toFixed(0)} ms`,
    `${reference.toFixed(0)} ms`,
    own / 50,
    '< 1',
  );
}

async function longestTaskMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(FIRST_ROWS);
  await page.goto(url);
  await page.evaluate('globalThis.interactive');
  await page.evaluate(LONG_TASKS);
  for (let scroll = 0; scroll < SCROLLS; scroll += 1) {
    await page.mouse.wheel(0, scroll < SCROLLS / 2 ? 900 : -900);
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
  }
  const longest = await page.evaluate<number>('globalThis.longest');
  await context.close();
  return longest;
}

async function loadMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(FIRST_ROWS);
  await page.goto(url);
  const ms = await page.evaluate<number>('globalThis.interactive');
  await context.close();
  return ms;
}

async function benchEventsInBrowser(
  browser: Browser,
  { world, address, bare }: { world: World; address: UiAddress; bare: BarePage },
): Promise<void> {
  const [page, reference] = [
    await openSeeing(browser, pageUrl(address)),
    await openSeeing(browser, bare.url),
  ];
  for (let event = 0; event < EVENTS; event += 1) {
    await world.merge('configmaps', 'counter', { data: { n: String(event) } });
    bare.send();
    await sleep(BETWEEN_EVENTS_MS);
  }
  const { runs } = await apiOf<{ runs: readonly { id: string; endedAt: string }[] }>(
    address,
    `runs?hook=fail.sh&result=failed&limit=${EVENTS}`,
  );
  const seen = await page.evaluate<Readonly<Record<string, number>>>('globalThis.seen');
  const ours = runs.flatMap(({ id, endedAt }) => {
    const at = seen[id];
    return at === undefined ? [] : [at - Date.parse(endedAt)];
  });
  const bareSeen = await reference.evaluate<Readonly<Record<string, number>>>('globalThis.seen');
  const references = Object.entries(bareSeen).map(([sent, at]) => at - Number(sent));
  for (const share of [0.5, 0.95]) {
    const [own, other] = [percentile(ours, share), percentile(references, share)];
    report(
      `failure of a hook to the browser, p${share * 100} of ${ours.length}`,
      `${own.toFixed(0)} ms`,
      `${other.toFixed(0)} ms`,
      own / Math.max(1, other),
      share === 0.95 ? '<= 400 ms' : '-',
    );
  }
}

async function openSeeing(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.locator('main tbody tr').first().waitFor();
  await page.evaluate(SEEN);
  return page;
}
