import { expect, test, vi } from 'vitest';
import { rejection } from '../support/rejection.ts';
import { describeHelm } from './helm-suite.ts';
import { HANGING_HOOK } from './helm-templates.ts';

const signal = new AbortController().signal;
const WAIT_MS = 60_000;

describeHelm('helm driver, removing releases', (lab) => {
  test('uninstall() removes release, objects and history; a missing release is fine', async () => {
    await lab.deploy();
    await lab.deploy({ greeting: 'good day' });
    expect(await lab.driver.exists('web', signal)).toBe(true);
    expect(await lab.driver.uninstall('web', signal)).toBe('uninstalled');
    expect(await lab.driver.exists('web', signal)).toBe(false);
    expect(await lab.world.history()).toEqual([]);
    expect(await lab.world.object('configmaps/web')).toBeUndefined();
    expect(await lab.driver.uninstall('web', signal)).toBe('absent');
    expect(await lab.deploy()).toMatchObject({ action: 'installed', revision: 1 });
  });

  test('uninstall() completes an uninstall that was interrupted', async () => {
    await cutOffUninstall();
    await finishHook(lab.driver.uninstall('web', signal));
    expect(await lab.world.history()).toEqual([]);
    expect(await lab.world.object('configmaps/web')).toBeUndefined();
  });

  test('deploy() installs a release again whose uninstall was interrupted', async () => {
    await cutOffUninstall();
    await finishHook(lab.deploy());
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 deployed']);
  });

  test('uninstall() and listReleases() distinguish releases of other owners', async () => {
    await lab.deploy();
    await lab.world.person('install', 'theirs', lab.world.modulePath, '--set', 'web.greeting=x');
    expect(await lab.driver.listReleases(signal)).toEqual([
      { name: 'theirs', revision: 1, status: 'deployed', isOwned: false },
      { name: 'web', revision: 1, status: 'deployed', isOwned: true },
    ]);
    expect(await lab.driver.uninstall('theirs', signal)).toBe('spared');
    expect(await lab.world.object('configmaps/theirs')).toBeDefined();
    expect(await lab.driver.uninstall('theirs', signal, { includeForeign: true })).toBe('uninstalled');
    expect(await lab.world.object('configmaps/theirs')).toBeUndefined();
  });

  async function cutOffUninstall(): Promise<void> {
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    await lab.deploy();
    const killed = rejection(lab.driver.uninstall('web', signal));
    await lab.untilHookRuns();
    await lab.world.killHelm();
    expect(await killed).toContain('helm was killed by SIGKILL');
    expect(await lab.world.statuses()).toEqual(['1 uninstalling']);
  }

  /** Completes the hook's Job, as often as helm makes it anew, until `running` has ended. */
  async function finishHook(running: Promise<unknown>): Promise<void> {
    let isOver = false;
    const ended = running.finally(() => {
      isOver = true;
    });
    await vi.waitFor(async () => {
      if (!isOver) await lab.world.completeJob('hang');
      expect(isOver).toBe(true);
    }, WAIT_MS);
    await ended;
  }
});
