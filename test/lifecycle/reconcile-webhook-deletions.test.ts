import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { freePorts } from '../support/control-plane/free-ports.ts';
import {
  BOTH,
  createHookedWorld,
  FINALIZER,
  hooked,
  isThere,
  NOTHING,
  readModule,
  uniqueName,
  untilEvent,
  untilModule,
  WAIT,
} from '../support/hooked-module-world.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { responseJson } from '../support/loopback-server.ts';
import { hookSection, refuse, startModuleHookServer } from '../support/module-hook-server.ts';
import { keyringEnv, Signer } from '../support/signed-modules.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook, writeTree } from '../support/world-files.ts';

/** Deletions of modules with a server that are interrupted, or that go on without the server. */
describeLifecycle((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('that has finalized is not called again when a later step of the deletion fails', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize']), {
          'hooks/once.sh': shHook(
            'beforeDeleteHelm: 1',
            '[ -e "$WORLD/failed" ] || { touch "$WORLD/failed"; exit 1; }',
          ),
        }),
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.passDelay();
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(server.bodies).toHaveLength(1);
    });

    test('that has finalized is called once more when the operator stops before the deletion is complete', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize']), {
          'hooks/wait.sh': shHook('beforeDeleteHelm: 1', '[ -e "$WORLD/go" ]'),
        }),
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.untilDelayed();
      await world.stop();
      expect(server.phases()).toEqual(['finalize']);
      expect(await isThere(world, name)).toBe(true);
      await writeTree(world.directory, { go: '' });
      await world.converge();
      await vi.waitFor(async () => {
        expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
      }, WAIT);
      expect(server.phases()).toEqual(['finalize', 'finalize']);
      expect(await isThere(world, name)).toBe(false);
    });

    test('that is permanently gone is skipped with release-finalizer', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING, (await freePorts(1))[0]);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, BOTH)),
      });
      const { world } = made;
      await world.converge();
      const release = () => runInWorld(world, 'module', 'release-finalizer', name);
      expect(await release()).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`module ${name} is enabled: disable it first`),
      });
      await server.stop();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
        /finalize failed: POST .*ECONNREFUSED/,
      );
      expect(await release()).toEqual({
        exitCode: 0,
        stdout: `module ${name} is deleted without its reconcile webhook\n`,
        stderr: '',
      });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(await isThere(world, name)).toBe(false);
      expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
      await untilEvent(world, name, { type: 'Warning', reason: 'FinalizerReleased' });
      expect(await release()).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`${name} does not wait for a reconcile webhook`),
      });
    });

    test('finalizes a module whose directory is gone, with the address in its Module object', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
        flags: { 'allow-empty-modules-dir': 'true' },
      });
      const { world } = made;
      await world.converge();
      await untilModule(world, name, { status: { phase: 'Succeeded' } });
      await world.stop();
      await rm(join(world.directory, 'modules', `001-${name}`), { recursive: true });
      server.responseWith((_body, response) => {
        responseJson(response, 503, { message: 'not yet' });
        return undefined;
      });
      await world.converge();
      await world.log.untilMessage(
        'Module purge failed, its reconcile webhook is called again in five minutes.',
      );
      expect(await isThere(world, name)).toBe(true);
      await untilModule(world, name, { metadata: { deletionTimestamp: expect.any(String) } });
      server.responseWith(NOTHING);
      expect(await runInWorld(world, 'module', 'release-finalizer', name)).toMatchObject({ exitCode: 0 });
      await vi.waitFor(async () => expect(await readModule(world, name)).toBeUndefined(), WAIT);
      expect(await isThere(world, name)).toBe(false);
    });

    test('is called to finalize after a restart, even if only the Module object is left', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(refuse({ message: 'not yet' }));
      await using made = await createHookedWorld(backend(), name, {
        modules: {
          'values.yaml': `${name}Enabled: true\n`,
          [`001-${name}/module.yaml`]: hookSection(server.url, ['finalize']),
        },
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.untilDelayed();
      await world.stop();
      server.responseWith(NOTHING);
      await world.converge();
      await vi.waitFor(async () => {
        expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
      }, WAIT);
      expect(server.phases()).toEqual(['finalize', 'finalize']);
    });

    test('is called to finalize after a restart, even if module.yaml no longer names it and the module is disabled', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await untilModule(world, name, { metadata: { finalizers: [FINALIZER] } });
      await world.stop();
      await rm(join(world.directory, 'modules', `001-${name}`, 'module.yaml'));
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      server.responseWith(refuse({ message: 'not yet' }));
      await world.start();
      await world.untilDelayed();
      expect(server.phases()).toEqual(['finalize']);
      expect(await isThere(world, name)).toBe(true);
      await untilModule(world, name, { metadata: { finalizers: [FINALIZER] } });
      server.responseWith(NOTHING);
      await world.passDelay();
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(await isThere(world, name)).toBe(false);
    });

    test('lets go with the first run after a restart when module.yaml names it no more', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await world.stop();
      await rm(join(world.directory, 'modules', `001-${name}`, 'module.yaml'));
      await world.converge();
      expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
      expect(server.phases()).toEqual([]);
    });
  });
});

describeApiIndependent((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('that hangs is not waited for after release-finalizer', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(() => undefined);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await vi.waitFor(() => expect(server.bodies).toHaveLength(1), WAIT);
      expect(await runInWorld(world, 'module', 'release-finalizer', name)).toMatchObject({ exitCode: 0 });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(await isThere(world, name)).toBe(false);
    });

    test('of a module that is no longer authorized is not called, and its finalizer stays', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using other = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, BOTH)),
        env: keyringEnv,
      });
      const { world } = made;
      const signer = await Signer.create(world);
      await signer.sign();
      await world.converge();
      await untilModule(world, name, {
        metadata: { finalizers: [FINALIZER] },
        status: { phase: 'Succeeded' },
      });
      await world.stop();
      await world.write('modules', { [`001-${name}/module.yaml`]: hookSection(other.url, BOTH) });
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.log.untilMessage('ConvergeModules task done', 3);
      await world.stop();
      expect(server.phases()).toEqual(['pre-reconcile']);
      expect(other.bodies).toEqual([]);
      expect(await isThere(world, name)).toBe(true);
      expect(await readModule(world, name)).toMatchObject({ metadata: { finalizers: [FINALIZER] } });
      await signer.sign();
      await world.converge();
      await vi.waitFor(async () => expect(await isThere(world, name)).toBe(false), WAIT);
      expect(other.phases()).toEqual(['finalize']);
    });
  });
});
