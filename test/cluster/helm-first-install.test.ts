import { expect, test } from 'vitest';
import { describeHelm } from './helm-suite.ts';

/** The API server refuses it, so helm fails before anything of the chart is applied. */
const BAD_HOOK = `apiVersion: v1
kind: Service
metadata: {name: migration, annotations: {"helm.sh/hook": pre-install}}
spec: {ports: [{port: 99999}], selector: {app: web}}
`;
const GOOD_HOOK = `apiVersion: v1
kind: ConfigMap
metadata: {name: migration, annotations: {"helm.sh/hook": pre-install}}
`;
const BAD_SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 99999}], selector: {app: web}}
`;

function uidOf(object: Readonly<Record<string, unknown>> | undefined): unknown {
  return (object?.['metadata'] as { readonly uid: string } | undefined)?.uid;
}

describeHelm('a failed first install', (lab) => {
  test('deploy() installs again after a failed install, so that its hooks run before the module is ready', async () => {
    await lab.world.put({ 'templates/hook.yaml': BAD_HOOK });
    await expect(lab.deploy()).rejects.toMatchObject({ code: 'HELM_FAILED' });
    // Two tries, and nothing of the chart was applied by either.
    expect(await lab.world.statuses()).toEqual(['1 failed', '2 failed']);
    expect(await lab.greeting()).toBeUndefined();
    await lab.world.put({ 'templates/hook.yaml': GOOD_HOOK });
    expect(await lab.deploy()).toMatchObject({ action: 'installed', revision: 3 });
    expect(await lab.world.object('configmaps/migration')).toBeDefined();
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
    expect(lab.world.helmRuns).toEqual(['upgrade', 'install', 'install']);
    // What is deployed is upgraded from then on.
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 4 });
  });

  test('deploy() adopts the objects of a failed install, and removes nothing', async () => {
    await lab.world.put({ 'templates/service.yaml': BAD_SERVICE });
    await expect(lab.deploy()).rejects.toMatchObject({ code: 'HELM_FAILED' });
    const before = await lab.world.object('configmaps/web');
    expect(before).toBeDefined();
    await lab.world.put({ 'templates/service.yaml': undefined });
    expect(await lab.deploy()).toMatchObject({ action: 'installed' });
    const after = await lab.world.object('configmaps/web');
    expect(uidOf(after)).toBe(uidOf(before));
  });

  test('deploy() keeps only as many failed installs as it keeps revisions', async () => {
    await lab.world.put({ 'templates/hook.yaml': BAD_HOOK });
    const driver = await lab.world.driver({ historyMax: 3 });
    const module = { name: 'web', path: lab.world.modulePath };
    const signal = new AbortController().signal;
    for (let run = 0; run < 3; run += 1)
      await expect(driver.deploy({ module, values: { global: {}, web: {} } }, signal)).rejects.toMatchObject({
        code: 'HELM_FAILED',
      });
    expect(await lab.world.statuses()).toEqual(['4 failed', '5 failed', '6 failed']);
  });
});
