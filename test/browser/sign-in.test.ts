import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { settled } from '../support/browser/pages.ts';
import { UiWorld } from '../support/browser/ui-world.ts';
import type { WatchedPage } from '../support/browser/watched-page.ts';
import { shHook } from '../support/world-files.ts';

const REFUSED = /^console: Failed to load resource: .* status of 40[13]/;
const RULE =
  'alice lacks the verb "list" on modules.addon-operator.io: bind the ClusterRole addon-operator-viewer';
/** Long enough to see the page before it ends. */
const SESSION_S = 12;

/** A token that the sandbox accepts until a time. */
function tokenUntil(epochMs: number): string {
  const payload = Buffer.from(JSON.stringify({ exp: Math.floor(epochMs / 1_000) })).toString('base64url');
  return `header.${payload}.signature`;
}

async function signIn({ page }: WatchedPage, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signing in with a token of the cluster, in the sandbox, where each token is valid until it expires. */
describeBrowser('the sign-in of the page', (lab) => {
  let ui: UiWorld;
  beforeAll(async () => {
    ui = await UiWorld.create(lab().backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
      },
      flags: { 'ui-auth': 'kubernetes', 'ui-actions': 'true' },
    });
    ui.launch();
    await ui.daemon.untilConverged();
  });
  afterAll(async () => {
    await ui?.[Symbol.asyncDispose]();
  });

  const open = async (path = ''): Promise<WatchedPage> => {
    const { origin, token } = await ui.address();
    // The address has no token that would let everyone in.
    expect(token).toBe('');
    const page = await lab().open(`${origin}/ui/${path}`);
    page.expect(REFUSED);
    return page;
  };

  test('a visitor signs in with a token, and the page shows when it has ended without losing what it shows', async () => {
    await using watched = await open('modules');
    const { page } = watched;
    await page.getByRole('heading', { name: 'Sign in with a token of the cluster' }).waitFor();
    expect(await watched.text()).toContain('kubectl create token NAME -n NAMESPACE --duration 8h');
    expect(await watched.accessibilityProblems()).toEqual([]);
    await signIn(watched, tokenUntil(Date.now() - 60_000));
    await page.getByText('the API server does not accept this token: it has expired').waitFor();
    await signIn(watched, tokenUntil(Date.now() + SESSION_S * 1_000));
    await page.getByRole('link', { name: 'web', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Your sign-in has ended' }).waitFor();
    await page.getByRole('link', { name: 'web', exact: true }).waitFor();
    expect(await watched.accessibilityProblems()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await watched.overflow()).toBe(0);
    await signIn(watched, 'any');
    await page.getByRole('heading', { name: 'Your sign-in has ended' }).waitFor({ state: 'hidden' });
    await page.goto(page.url().replace(/modules$/, 'about'));
    await page.getByText('Signed in as').waitFor();
    await settled(watched);
    expect(await watched.text()).toMatch(/Signed in as\s+sandbox/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in with a token of the cluster' }).waitFor();
  });

  test('a person without the rule to list modules sees which one it is', async () => {
    await using watched = await open();
    const { page } = watched;
    await page.route('**/api/v1/stream', (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'REQUEST_REFUSED', message: RULE } } }),
    );
    await signIn(watched, 'any');
    await page.getByRole('heading', { name: 'You may not see this page' }).waitFor();
    expect(await watched.text()).toContain(RULE);
    expect(await watched.accessibilityProblems()).toEqual([]);
  });

  test('a button of an action that the person may not request is disabled, with the reason', async () => {
    await using watched = await open('modules/web/why');
    const { page } = watched;
    const refusal = 'alice lacks the verb "reconcile" on modules.addon-operator.io for "web"';
    await page.route('**/api/v1/me?module=web', (route) =>
      route.fulfill({ json: { user: 'alice', actions: [{ action: 'force-reconcile', refusal }] } }),
    );
    await signIn(watched, 'any');
    const refused = page.getByRole('button', { name: 'Run with helm (module web)' });
    await page.getByText(refusal).waitFor();
    expect([await refused.isDisabled(), await refused.getAttribute('title')]).toEqual([true, refusal]);
    await page.getByRole('button', { name: 'Run now (module web)' }).click();
    await page.getByText('Module web ').first().waitFor();
  });
});
