import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LOOK_INTERVAL_MS } from '../../src/reconcile/directory-looks.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import {
  addVersion,
  lookAtFiles,
  type StoreWorld,
  storeWorld,
  untilLive,
  versionFiles,
} from '../support/store/store-world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 30_000, interval: 50 };

async function statusOf(world: StoreWorld['world']) {
  const { exitCode, stdout } = await runInWorld(world, 'status');
  return { exitCode, stdout };
}

describeLifecycle((backend) => {
  test('a version that is added to the store runs, with chart and hooks of one version, in one revision', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await world.converge();
    await addVersion(world, name, '1.0.0');
    await untilLive(world, name, '1.0.0');
    await addVersion(world, name, '1.1.0');
    await untilLive(world, name, '1.1.0');
    await lookAtFiles(world, async () => {
      const well = { exitCode: 0, stdout: expect.stringContaining('1 module ready') };
      expect(await statusOf(world)).toEqual(well);
    });
    const applied = (await world.helmCalls()).filter((call) => /^(install|upgrade)/.test(call));
    expect(applied).toHaveLength(2);
    // Every run is of one version from its first hook to its last.
    const runs = (await readFile(join(world.directory, 'runs'), 'utf8')).trim().split('\n');
    const first = runs.indexOf('1.1.0 onStartup');
    expect(new Set(runs.slice(0, first).map((line) => line.split(' ')[0]))).toEqual(new Set(['1.0.0']));
    expect(new Set(runs.slice(first).map((line) => line.split(' ')[0]))).toEqual(new Set(['1.1.0']));
  });

  test('an event around a switch is handled by the hook of one version', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await world.create('configmaps', eventFor(name));
    await vi.waitFor(async () => expect(await eventsIn(world)).toContain('1.0.0 Added event'), WAIT);
    await addVersion(world, name, '1.1.0');
    await untilLive(world, name, '1.1.0');
    await world.merge('configmaps', 'event', { data: { a: '1' } });
    await vi.waitFor(async () => expect(await eventsIn(world)).toContain('1.1.0 Modified event'), WAIT);
    expect(await eventsIn(world)).not.toContain('1.0.0 Modified event');
  });

  test.each([
    [
      'whose hook has an invalid configuration',
      { 'hooks/hook.sh': '#!/bin/sh\necho "onStart: 1"\n' },
      'onStart',
    ],
    ['whose chart does not render', { 'templates/bad.yaml': '{{ fail "not like this" }}' }, 'not like this'],
    ['whose template cannot be parsed', { 'templates/bad.yaml': '{{ if }}' }, 'missing value for if'],
    ['with an invalid module.yaml', { 'module.yaml': 'requires: 7\n' }, 'module.yaml'],
  ])('a version %s leaves the old one running, and says why', async (_what, files, reason) => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await addVersion(world, name, '1.1.0', files);
    await lookAtFiles(world, async () => {
      const { exitCode, stdout } = await statusOf(world);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining(reason) });
      expect(stdout).toContain(`module ${name} is not updated to 1.1.0: NotLoadable`);
    });
    const pending = { type: 'UpdatePending', status: 'True', reason: 'NotLoadable' };
    const conditions = expect.arrayContaining([expect.objectContaining(pending)]);
    await untilStatus(world, name, { conditions, phase: 'Succeeded' });
    await world.create('configmaps', eventFor(name));
    await vi.waitFor(async () => expect(await eventsIn(world)).toContain('1.0.0 Added event'), WAIT);
    expect((await runInWorld(world, 'explain', 'module', name)).stdout).toMatch(
      /update +module .* NotLoadable/,
    );
    // A corrected version is taken, and the condition ends.
    await addVersion(world, name, '1.1.1');
    await untilLive(world, name, '1.1.1');
    await vi.waitFor(async () => {
      const object = await untilStatus(world, name, { phase: 'Succeeded', version: '1.1.1' });
      expect(JSON.stringify(object.status)).not.toContain('UpdatePending');
    }, WAIT);
  });

  test('a version whose schema refuses the section of the ConfigMap waits until the section fits', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name], { config: { [name]: 'replicas: many\n' } });
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await world.converge();
    await untilLive(world, name, '1.0.0');
    const schema = 'type: object\nproperties: {replicas: {type: integer}}\n';
    await addVersion(world, name, '1.1.0', { 'openapi/config-values.yaml': schema });
    await lookAtFiles(world, async () => {
      const { stdout } = await statusOf(world);
      expect(stdout).toContain(`module ${name} is not updated to 1.1.0: SettingsInvalid`);
      expect(stdout).toContain(`${name}.replicas`);
    });
    await world.putConfig({ [name]: 'replicas: 3\n' });
    await untilLive(world, name, '1.1.0');
    await vi.waitFor(async () => expect((await statusOf(world)).exitCode).toBe(0), WAIT);
  });

  test('a chart that fails for a value that its new hooks set is taken', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await world.converge();
    await untilLive(world, name, '1.0.0');
    const set = `echo '[{"op":"add","path":"/${name}/fresh","value":{"key":"x"}}]' > "$VALUES_JSON_PATCH_PATH"`;
    await addVersion(world, name, '1.1.0', {
      'templates/fresh.yaml': `# {{ .Values.${name}.fresh.key }}`,
      'hooks/fresh.sh': shHook('onStartup: 1', set),
    });
    await untilLive(world, name, '1.1.0');
    expect(world.log.printed).not.toContain('Version of the module is refused');
  });

  test('a module that is removed from the store is deleted with its hooks, and one whose link is lost is held', async () => {
    const names = [uniqueName(), uniqueName()] as const;
    const [removed, lost] = names;
    await using made = await storeWorld(backend(), names);
    const { world } = made;
    for (const name of names) await addVersion(world, name, '1.0.0');
    await world.converge();
    for (const name of names) await untilLive(world, name, '1.0.0');
    await rm(join(world.directory, 'store/current', `030-${lost}`));
    expect((await runInWorld(world, 'module', 'store', 'remove', removed)).exitCode).toBe(0);
    await lookAtFiles(world, async () => {
      expect(await world.get('configmaps', removed)).toBeUndefined();
      expect((await statusOf(world)).stdout).toMatch(
        new RegExp(`module ${lost} is held: .*030-${lost}.*is gone`),
      );
    });
    await vi.waitFor(async () => {
      expect(await readFile(join(world.directory, 'runs'), 'utf8')).toContain('1.0.0 afterDeleteHelm');
    }, WAIT);
    expect(await world.get('configmaps', lost)).toBeDefined();
    for (const name of names) await addVersion(world, name, '1.1.0');
    for (const name of names) await untilLive(world, name, '1.1.0');
  });

  test('a link of any modules directory that is switched, and a new directory, are taken up', async () => {
    const names = [uniqueName(), uniqueName()] as const;
    const [linked, fresh] = names;
    await using made = await moduleWorld(backend(), {}, names);
    const { world } = made;
    const { link, files } = versionFiles(world.directory);
    await files(`versions/1.0.0/${linked}`, linked, '1.0.0');
    await files(`versions/1.1.0/${linked}`, linked, '1.1.0');
    await link(`modules/010-${linked}`, `../versions/1.0.0/${linked}`);
    await world.converge();
    await untilLive(world, linked, '1.0.0');
    await link(`modules/010-${linked}`, `../versions/1.1.0/${linked}`);
    await untilLive(world, linked, '1.1.0');
    // Files that are edited in place are not read in production.
    await files(`versions/1.1.0/${linked}`, linked, '1.2.0');
    await files(`modules/020-${fresh}`, fresh, '1.0.0');
    await untilLive(world, fresh, '1.0.0');
    world.clock.wakeSleeps(LOOK_INTERVAL_MS);
    const { stdout } = await runInWorld(world, 'explain', 'module', linked);
    expect(stdout).toMatch(/version +1\.1\.0/);
  });
});

/** An object for which the hook of a module gets an event. */
function eventFor(name: string) {
  return { metadata: { name: 'event', labels: { of: name } } };
}

async function eventsIn(world: StoreWorld['world']): Promise<readonly string[]> {
  const text = await readFile(join(world.directory, 'events'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line.includes(' event'));
}
