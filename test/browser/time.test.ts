import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo, settled } from '../support/browser/pages.ts';
import { pageUrl, UiWorld } from '../support/browser/ui-world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const FAILED = 'attempt failed, will retry';
const SOON = { timeout: 60_000 };

describeBrowser('runs over time on the page', (lab) => {
  test('the grid and the timeline show runs before a restart with sign, duration and link', async () => {
    await using ui = await UiWorld.create(lab().backend, {
      config: {},
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/openapi/config-values.yaml': 'type: object\nproperties: {mode: {type: string}}\n',
        '001-web/hooks/a.sh': shHook('beforeHelm: 1', '[ -e "$WORLD/restarted" ]'),
      },
    });
    ui.launch();
    // What is killed with the daemon is the run that is written at that moment, if any.
    await ui.daemon.log.until((records) => records.filter(({ msg }) => msg === FAILED).length > 1);
    await ui.daemon.kill();
    await ui.world.write('modules', { '../restarted': '' });
    ui.launch();
    await ui.daemon.untilConverged();
    await using opened = await lab().open(pageUrl(await ui.address()));
    const { page } = opened;
    await settled(opened);

    await goTo(opened, 'modules/web/runs');
    const grid = page.locator('section.card', {
      has: page.getByRole('heading', { name: /^Last \d+ runs/u }),
    });
    const bars = grid.getByRole('link');
    await bars.first().waitFor(SOON);
    const names = await bars.evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
    expect(names.at(0)).toMatch(/^run \d+ failed in /u);
    expect(names.at(-1)).toMatch(/^run \d+ succeeded in /u);
    expect(await grid.innerText()).toMatch(/\d failed[^]*1 succeeded[^]*the highest bar: /u);
    await page.getByText('the operator was started after this run').first().waitFor(SOON);

    await goTo(opened, 'modules/web/objects');
    const row = page.getByRole('row', { name: /^ready ConfigMap web/u });
    await row.getByText('commands').click();
    expect(await row.innerText()).toContain(`kubectl describe -n ${ui.world.namespace} configmaps/web`);

    // A failing module is compared with its last good run.
    await rm(join(ui.world.directory, 'restarted'));
    await ui.world.merge('configmaps', 'addon-operator', { data: { web: 'mode: fast\n' } });
    await goTo(opened, 'modules/web/why');
    const changed = page.locator('section.card', {
      has: page.getByRole('heading', { name: 'What changed since it was well' }),
    });
    await changed.getByRole('row', { name: /web\/mode.*none "fast"/u }).waitFor(SOON);

    await goTo(opened, 'timeline');
    await page.getByRole('link', { name: /^web ?: \d+ runs, [1-9]\d* failed$/u }).waitFor(SOON);
    const marks = page.getByRole('listitem').filter({ hasText: 'the operator started' });
    expect(await marks.count()).toBe(2);
    await page.locator('.timeline rect.bad').last().click();
    await page.waitForURL(/\/ui\/runs\/\d+$/u, SOON);
    await page.getByRole('heading', { level: 1, name: 'Run module web' }).waitFor(SOON);
  });
});
