import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';
import { goTo, settled } from '../support/browser/pages.ts';
import { type GetModule, kubectlGetModule, untilShown } from '../support/browser/shown-cause.ts';
import { pageUrl, UI_FLAGS, uiAddress } from '../support/browser/ui-world.ts';
import { moduleWorld, readModule } from '../support/module-world.ts';
import { keyringEnv, Signer } from '../support/signed-modules.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 120_000, interval: 200 };

/** Each situation that holds a module up has one cause, on the page and wherever else the operator says how it is. */
describeBrowser('the page in each situation', (lab) => {
  let getModule: GetModule;
  beforeAll(async () => {
    getModule = await kubectlGetModule();
  });

  test('what blocks main, a refused ConfigMap, a hook that hangs and a pause', async () => {
    await using made = await moduleWorld(
      lab().backend,
      {
        config: {},
        flags: UI_FLAGS,
        globalHooks: {
          'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/mended-global" ] || { echo no network; exit 1; } >&2'),
          'hang.sh': shHook(
            'kubernetes: [{name: maps, kind: ConfigMap, nameSelector: {matchNames: [start]}}]',
            'grep -q Synchronization "$BINDING_CONTEXT_PATH" || exec sleep 600',
          ),
        },
        modules: {
          'values.yaml': 'webEnabled: true\ndnsEnabled: true\n',
          '001-web/hooks/hook.sh': shHook(
            'beforeHelm: 1',
            '[ -e "$WORLD/mended-module" ] || { echo no disk; exit 1; } >&2',
          ),
          '001-web/openapi/config-values.yaml': 'type: object\nproperties: {replicas: {type: integer}}\n',
          '002-dns/enabled':
            '#!/bin/sh\n[ -e "$WORLD/mended-enabled" ] || { echo no answer >&2; exit 1; }\necho true > "$MODULE_ENABLED_RESULT"\n',
          '002-dns/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
          '003-off/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
        },
      },
      ['web', 'dns', 'off'],
    );
    const { world } = made;
    const mend = async (file: string): Promise<void> => {
      await world.write('modules', { [`../mended-${file}`]: '' });
      await world.passDelay();
    };
    await world.start();
    await using page = await lab().open(pageUrl(await uiAddress(world)));
    await settled(page);
    const on = { world, page, getModule };
    await untilShown(on, 'web', { status: 'undecided', node: 'enabled', text: 'no network' });
    await mend('global');
    await world.log.untilMessage('ConvergeModules failed, requeue task to retry after delay.');
    await untilShown(on, 'web', {
      status: 'undecided',
      node: 'enabled',
      text: "enabled script of module 'dns' failed",
    });
    await mend('enabled');
    await world.log.untilMessage('ModuleRun failed. Requeue task to retry after delay.');
    await untilShown(on, 'web', { status: 'failing', node: 'before-helm', text: 'no disk' });
    await untilShown(on, 'dns', { status: 'starting', node: 'queue', text: 'no disk' });
    await mend('module');
    await world.daemon.firstConverge;
    await goTo(page, 'modules/off/why');
    await page.page.locator('main').getByText('no source sets the flag').first().waitFor();

    await world.putConfig({ web: 'replicas: many\n' });
    await untilShown(on, 'dns', { status: 'held-up', node: 'config', text: 'replicas' });
    await world.putConfig({});
    await vi.waitFor(async () => {
      const ready = expect.objectContaining({ type: 'Ready', status: 'True' });
      expect((await readModule(world, 'dns'))?.status?.conditions).toContainEqual(ready);
    }, WAIT);

    await runInWorld(world, 'module', 'pause', 'web', '--reason', 'new disks');
    await untilShown(on, 'web', { status: 'paused', node: 'not-paused', text: 'new disks' });
    await runInWorld(world, 'module', 'resume', 'web');

    await world.create('configmaps', { metadata: { name: 'start' } });
    const { running } = world.daemon.operator.execution;
    await vi.waitFor(() => expect(running.all.map(({ hook }) => hook.name)).toEqual(['hang.sh']), WAIT);
    world.clock.jump(11 * 60_000);
    await untilShown(on, 'web', { status: 'held-up', node: 'enabled', text: 'hook hang.sh' });
  });

  test('an isolated module, one that requires it, one whose requirement is missing, and one that cannot be removed', async () => {
    await using made = await moduleWorld(
      lab().backend,
      {
        config: { dnsEnabled: 'true' },
        flags: { ...UI_FLAGS, 'module-failure-policy': 'isolate' },
        modules: {
          'values.yaml': 'webEnabled: true\napiEnabled: true\nneedyEnabled: true\n',
          '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'echo no disk >&2; exit 1'),
          '002-api/module.yaml': 'requires: [{name: web}]\n',
          '002-api/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
          '004-needy/module.yaml': 'requires: [{name: nothere}]\n',
          '004-needy/hooks/hook.sh': shHook('beforeHelm: 1', 'true'),
          ...under('003-dns', configMapChart('dns', 'dns')),
          '003-dns/hooks/hook.sh': shHook('afterDeleteHelm: 1', 'echo still in use >&2; exit 1'),
        },
      },
      ['web', 'api', 'dns', 'needy'],
    );
    const { world } = made;
    await world.converge();
    await using page = await lab().open(pageUrl(await uiAddress(world)));
    const on = { world, page, getModule };
    await untilShown(on, 'web', { status: 'isolated', node: 'before-helm', text: 'no disk' });
    await untilShown(on, 'api', { status: 'isolated', node: 'requirements', text: 'web' });
    await untilShown(on, 'needy', {
      status: 'disabled',
      node: 'requirements',
      text: 'requires module nothere',
    });
    await world.putConfig({});
    const removal = untilShown(on, 'dns', { status: 'deleting', node: 'enabled', text: 'still in use' });
    await expect(removal).resolves.toBeUndefined();
  });

  test('objects that nothing watches are said to be unwatched, also after others changed them', async () => {
    await using made = await moduleWorld(
      lab().backend,
      {
        flags: UI_FLAGS,
        modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
      },
      ['web'],
    );
    const { world } = made;
    await world.converge();
    await world.merge('configmaps', 'web', { data: { values: 'of another client' } });
    await using page = await lab().open(pageUrl(await uiAddress(world)));
    await goTo(page, 'modules/web/changes');
    const main = page.page.locator('main');
    await main.getByText('The objects are not watched').waitFor();
    await goTo(page, 'modules/web/why');
    await main.getByText('its objects are not watched').waitFor();
    const { stdout } = await runInWorld(world, 'explain', 'module', 'web');
    expect(stdout).toMatch(/^drift +not watched$/mu);
    await vi.waitFor(async () => {
      const drifted = expect.objectContaining({ type: 'Drifted', status: 'Unknown', reason: 'NotWatched' });
      expect((await readModule(world, 'web'))?.status?.conditions).toContainEqual(drifted);
    }, WAIT);
  });

  test('a module that is not authorized, and one whose directory is gone', async () => {
    await using made = await moduleWorld(
      lab().backend,
      {
        flags: UI_FLAGS,
        modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
      },
      ['web'],
    );
    const { world } = made;
    await world.converge();
    await world.stop();
    await rm(join(world.directory, 'modules'), { recursive: true });
    await mkdir(join(world.directory, 'modules'));
    await world.converge();
    await using page = await lab().open(pageUrl(await uiAddress(world)));
    await untilShown({ world, page, getModule }, 'web', {
      status: 'held',
      node: 'found',
      text: 'confirm-purge',
    });

    await using signed = await moduleWorld(
      lab().backend,
      {
        config: { dnsEnabled: 'true' },
        env: keyringEnv,
        flags: UI_FLAGS,
        modules: { '001-dns/hooks/hook.sh': shHook('beforeHelm: 1', 'true') },
      },
      ['dns'],
    );
    await Signer.create(signed.world);
    await signed.world.converge();
    await using other = await lab().open(pageUrl(await uiAddress(signed.world)));
    const refusal = untilShown({ world: signed.world, page: other, getModule }, 'dns', {
      status: 'unauthorized',
      node: 'authorized',
      text: 'it is not signed',
    });
    await expect(refusal).resolves.toBeUndefined();
  });
});
