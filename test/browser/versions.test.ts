import { expect, test } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo, settled } from '../support/browser/pages.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import { uniqueName } from '../support/module-world.ts';
import { addVersion, lookAtFiles, storeWorld, untilLive } from '../support/store/store-world.ts';
import { runInWorld } from '../support/world-command.ts';

const SOON = { timeout: 60_000 };

describeBrowser('versions on the page', (lab) => {
  test('a version that is refused is shown with what to do, and a button goes back to an earlier one', async () => {
    const name = uniqueName();
    const flags = { ...UI_FLAGS, 'ui-actions': 'true' };
    await using made = await storeWorld(lab().backend, [name], { flags });
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await world.converge();
    for (const version of ['1.0.0', '1.1.0']) {
      await addVersion(world, name, version);
      await untilLive(world, name, version);
    }
    await addVersion(world, name, '1.2.0', { 'module.yaml': 'requires: 7\n' });
    await lookAtFiles(world, async () => {
      expect((await runInWorld(world, 'status')).stdout).toContain('NotLoadable');
    });
    await using opened = await lab().open(pageUrl(await uiAddress(world)));
    const { page } = opened;
    await settled(opened);

    await goTo(opened, 'modules');
    await page.getByRole('row', { name: new RegExp(`${name}.*1\\.1\\.0 → 1\\.2\\.0`, 'u') }).waitFor(SOON);
    await goTo(opened, 'timeline');
    const marks = page.locator('section.card', {
      has: page.getByRole('heading', { name: 'What happened beside the runs' }),
    });
    expect(await marks.innerText()).toContain(`${name}: version 1.0.0 → 1.1.0`);
    await goTo(opened, `modules/${name}/why`);
    const versions = page.locator('section.card', { has: page.getByRole('heading', { name: 'Versions' }) });
    expect(await versions.innerText()).toMatch(
      /1\.1\.0[^]*1\.2\.0 NotLoadable[^]*To update it: correct the files/u,
    );

    await goTo(opened, `modules/${name}/changes`);
    const rollBack = page.getByRole('button', { name: 'Roll back to revision 1', exact: true });
    await rollBack.click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toContain('The objects of the module become those of revision 1');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: '1.1.0' } });
    await rollBack.click();
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText('is rolled back to revision 1').waitFor(SOON);
    expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: '1.0.0' } });
    await page.getByRole('row', { name: /^2 rolled-back/u }).waitFor(SOON);
  });
});
