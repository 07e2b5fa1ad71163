import { metadataOf } from '@addon-operator/kube-client/kube-client';
import { expect, test, vi } from 'vitest';
import type { UninstallSteps } from '../../src/releases/release-steps.ts';
import { rejection } from '../support/rejection.ts';
import { describeHelm } from './helm-suite.ts';
import { HANGING_HOOK } from './helm-templates.ts';

const signal = new AbortController().signal;
const WAIT_MS = 60_000;
/** An object that no API server takes: its namespace does not exist. */
const UNPLACED = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: nowhere}\n';

/** A template of ConfigMaps. */
function maps(...names: readonly string[]): string {
  return names.map((name) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`).join('');
}

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

  test('uninstall() after failed upgrades leaves nothing of the revisions before them', async () => {
    const { world } = lab;
    await world.put({ 'templates/map.yaml': maps('web', 'old') });
    await lab.deploy();
    await world.put({ 'templates/map.yaml': `${maps('web', 'middle')}${UNPLACED}` });
    expect(await rejection(lab.deploy())).toContain('nowhere');
    await world.put({ 'templates/map.yaml': `${maps('web')}${UNPLACED}` });
    expect(await rejection(lab.deploy())).toContain('nowhere');
    expect(await mapsLeft()).toEqual(['middle', 'old', 'web']);
    expect(await lab.driver.uninstall('web', signal)).toBe('uninstalled');
    expect(await mapsLeft()).toEqual([]);
    expect(await world.history()).toEqual([]);
    expect(world.leftBehind).toEqual([]);
  });

  test('uninstall() after a failed upgrade keeps what is not known to be of the release, and names it', async () => {
    const { world } = lab;
    await world.put({ 'templates/map.yaml': maps('web', 'old', 'kept', 'theirs', 'bare', 'shared') });
    await lab.deploy();
    await annotate('kept', { 'helm.sh/resource-policy': 'keep' });
    await annotate('theirs', { 'meta.helm.sh/release-name': 'theirs' });
    await annotate('bare', { 'meta.helm.sh/release-name': null });
    const { uid } = metadataOf(await world.object('configmaps/theirs'));
    await change('shared', {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid }],
    });
    await world.put({ 'templates/map.yaml': `${maps('web')}${UNPLACED}` });
    await rejection(lab.deploy());
    expect(await lab.driver.uninstall('web', signal)).toBe('uninstalled');
    expect(await mapsLeft()).toEqual(['bare', 'kept', 'shared', 'theirs']);
    expect(world.leftBehind.toSorted()).toEqual([
      '/ConfigMap/bare (it does not name its release any more)',
      '/ConfigMap/shared (another object owns it as well)',
    ]);
  });

  test('uninstall() after a failed upgrade lets the steps keep objects of earlier revisions', async () => {
    const { world } = lab;
    await world.put({ 'templates/map.yaml': maps('web', 'old') });
    await lab.deploy();
    await world.put({ 'templates/map.yaml': `${maps('web')}${UNPLACED}` });
    await rejection(lab.deploy());
    const seen: string[] = [];
    const steps: UninstallSteps = {
      around: async (objects, uninstall) => {
        seen.push(...objects.map(({ metadata }) => metadata.name ?? ''));
        await uninstall(objects.filter(({ metadata }) => metadata.name === 'old'));
      },
    };
    expect(await lab.driver.uninstall('web', signal, { steps })).toBe('uninstalled');
    expect(seen.toSorted()).toEqual(['lost', 'old', 'web']);
    expect(await mapsLeft()).toEqual(['old']);
  });

  async function mapsLeft(): Promise<readonly string[]> {
    const { items } = (await lab.world.probe.expect({ path: lab.world.path('configmaps') })) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== 'kube-root-ca.crt')
      .toSorted();
  }

  async function annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await change(name, { annotations });
  }

  async function change(name: string, metadata: object): Promise<void> {
    await lab.world.probe.expect({
      method: 'PATCH',
      path: lab.world.path(`configmaps/${name}`),
      contentType: 'application/merge-patch+json',
      body: { metadata },
    });
  }

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
