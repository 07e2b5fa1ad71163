import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import { Replicas, untilLeading } from '../support/replicas.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 200 };

/** `kubectl port-forward deploy/…` takes any replica, and the token is that of the leader. */
describeBrowser('the page of a standby', (lab) => {
  test('a standby names the leader and how to reach it, and shows the operator as soon as it leads', async () => {
    await using world = await World.create(lab().backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
      },
    });
    const replicas = await Replicas.on(world);
    const addressOf = async (number: number) =>
      await uiAddress({ flags: { 'debug-unix-socket': join(world.directory, `debug.socket-${number}`) } });
    await using leader = await replicas.start(1, undefined, UI_FLAGS);
    await leader.untilConverged();
    await using standby = await replicas.start(2, undefined, UI_FLAGS);
    await standby.log.untilMessage(
      'the page is served, `addon-operator ui` prints its address with the token',
    );
    const sentence = `this replica is a standby: pod-1 leads, see kubectl -n ${world.namespace} exec pod-1 -- addon-operator status`;
    // When it has looked at the Lease.
    await vi.waitFor(
      async () => expect((await replicas.ask(2, '/readyz?verbose')).body).toContain(sentence),
      WAIT,
    );
    expect((await replicas.ask(2, '/status')).body).toContain(sentence);

    const { origin, token } = await addressOf(2);
    await using page = await lab().open(pageUrl({ origin, token: (await addressOf(1)).token }));
    page.expect(/^console: Failed to load resource: .* status of (?:503|401)/);
    page.expect(/^console: Failed to load resource: net::ERR_/);
    await page.page.getByRole('heading', { name: 'This replica is a standby' }).waitFor();
    const text = await page.text();
    expect(text).toContain('pod-1 is the leader');
    expect(text).toContain(`kubectl -n ${world.namespace} exec pod-1 -- addon-operator ui`);
    expect(text).toContain(`kubectl -n ${world.namespace} port-forward pod/pod-1 9652`);
    expect(await page.accessibilityProblems()).toEqual([]);
    await page.page.setViewportSize({ width: 320, height: 640 });
    expect(await page.overflow()).toBe(0);
    await page.page.setViewportSize({ width: 1280, height: 720 });

    // Without any token it says the same.
    await using stranger = await lab().open(`${origin}/ui/modules`);
    stranger.expect(/^console: Failed to load resource: /);
    await stranger.page.getByRole('heading', { name: 'This replica is a standby' }).waitFor();
    await using known = await lab().open(pageUrl({ origin, token }));
    known.expect(/^console: Failed to load resource: /);
    await known.page.getByRole('heading', { name: 'This replica is a standby' }).waitFor();

    leader.signal('SIGTERM');
    await leader.exited;
    await untilLeading(standby);
    // Not the token of this replica: the address is needed, which a command prints here now.
    await page.page.getByRole('heading', { name: 'This address is no longer valid' }).waitFor();
    await stranger.page.getByRole('heading', { name: 'An address with a token is needed' }).waitFor();
    await known.page.getByText('1 ready').first().waitFor();
  });
});
