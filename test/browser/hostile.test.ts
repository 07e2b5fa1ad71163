import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RunList } from '../../src/journal/run-view.ts';
import { type BrowserLab, describeBrowser } from '../support/browser/browser-suite.ts';
import { PageProxy } from '../support/browser/page-proxy.ts';
import { goTo, openPages, PAGES } from '../support/browser/pages.ts';
import { pageUrl, type UiAddress, UiWorld } from '../support/browser/ui-world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 200 };
const SECRET = 'correct-horse-battery';
const TAG = '<img src=x onerror=alert(1)>';
const LINK = 'javascript:alert(1)';
/** Turns round what follows it, where it is obeyed. */
const BIDI = '\u202eevil\u2066';
/** Nearly as long as the name of a file can be. */
const LONG_HOOK = `${'n'.repeat(249)}.sh`;
const HOSTILE_HOOK = `a ${TAG} ${BIDI}.sh`;
/** Controls of terminals and of the direction of text, but for tabs and ends of lines. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const SAYS_NASTY = `
printf '%s\\n' '${TAG}' '${LINK}' '<script>alert(1)</script>' '${BIDI}'
printf '\\033[2J\\033]0;title\\007\\033[31mred\\033[0m\\n'
head -c 1000000 /dev/zero | tr '\\0' x; echo
`;
const LEAK = `
cat "$VALUES_PATH"
echo '{"op":"add","path":"/web/url","value":"https://${SECRET}@host"}' > "$VALUES_JSON_PATCH_PATH"
echo "cannot log in with ${SECRET} ${TAG}" >&2
exit 1
`;

/** What hooks, files and objects can make a page show. */
describeBrowser('the page of a daemon with hostile hooks and secrets', (lab) => {
  let ui: UiWorld;
  let proxy: PageProxy;
  let address: UiAddress;
  beforeAll(async () => {
    ui = await startNasty(lab());
    const { origin, token } = await ui.address();
    proxy = await PageProxy.start(origin);
    address = { origin: proxy.url, token };
    await vi.waitFor(async () => {
      const { runs } = await ui.api<RunList>('runs?module=web&result=failed');
      if (runs.length === 0) throw new Error('the hook of module web did not fail');
    }, WAIT);
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await ui?.[Symbol.asyncDispose]();
  });

  test('hostile names and outputs are text: no script runs, no policy is reported, nothing breaks out', async () => {
    await using page = await lab().open(pageUrl(address));
    const { runs } = await ui.api<RunList>(`runs?hook=${encodeURIComponent(HOSTILE_HOOK)}&limit=1`);
    const seen = new Set<string>();
    for await (const { path, text } of openPages(page, [...PAGES, `runs/${runs[0]?.id ?? ''}`])) {
      if (text.includes(TAG)) seen.add(path);
      expect([path, await page.overflow()]).toEqual([path, 0]);
      expect([path, await page.page.locator('img[src="x"], main script').count()]).toEqual([path, 0]);
      expect([path, await page.page.locator('a[href^="javascript:" i]').count()]).toEqual([path, 0]);
      // Neither obeyed nor passed on: a person sees that there is something.
      expect([path, text.match(CONTROLS)]).toEqual([path, null]);
    }
    expect(seen).toContain('runs');
    await goTo(page, `runs?hook=${LONG_HOOK}`);
    await page.page.getByText(LONG_HOOK).first().waitFor();
    expect(await page.overflow()).toBe(0);
    expect(seen).toContain(`runs/${runs[0]?.id ?? ''}`);
  });

  test('a secret in values, output, errors and patches is on no page, in no response and in no stream', async () => {
    await using page = await lab().open(pageUrl(address));
    const { runs } = await ui.api<RunList>('runs?module=web&result=failed&limit=1');
    const masked: string[] = [];
    for await (const { path, text } of openPages(page, [...PAGES, `runs/${runs[0]?.id ?? ''}`])) {
      expect([path, text.includes(SECRET)]).toEqual([path, false]);
      if (text.includes('***')) masked.push(path);
    }
    expect(masked).toContain('');
    expect(masked).toContain('modules/web/why');
    expect(masked).toContain(`runs/${runs[0]?.id ?? ''}`);
    expect(proxy.streams.length).toBeGreaterThan(0);
    expect(proxy.requests.filter(({ text }) => text.includes(SECRET)).map(({ path }) => path)).toEqual([]);
  });
});

async function startNasty({ backend }: BrowserLab): Promise<UiWorld> {
  const ui = await UiWorld.create(backend, {
    modules: {
      'values.yaml': 'webEnabled: true\n',
      ...under('001-web', configMapChart('web', 'web')),
      '001-web/hooks/leak.sh': shHook('beforeHelm: 1', LEAK),
    },
    globalHooks: {
      [LONG_HOOK]: shHook('onStartup: 1', 'echo started'),
      [HOSTILE_HOOK]: shHook(
        `onStartup: 1\nschedule: [{name: '${TAG}', crontab: '* * * * *', queue: '${TAG}'}]`,
        SAYS_NASTY,
      ),
    },
    config: { web: 'token: {valueFrom: {secretKeyRef: {name: web-secret, key: token}}}\n' },
    flags: { 'secret-references': '*' },
  });
  const secret = { kind: 'Secret', metadata: { name: 'web-secret' }, stringData: { token: SECRET } };
  await ui.world.create('secrets', secret);
  ui.launch();
  return ui;
}
