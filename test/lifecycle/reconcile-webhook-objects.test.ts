import { describe, expect, test, vi } from 'vitest';
import {
  BOTH,
  createHookedWorld,
  FINALIZER,
  type HeldModule,
  hooked,
  isThere,
  MODULES,
  NOTHING,
  readModule,
  uniqueName,
  untilEvent,
  untilModule,
  WAIT,
} from '../support/hooked-module-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { hookSection, refuse, startModuleHookServer } from '../support/module-hook-server.ts';

/** What servers of modules do to Module objects, and what these do for them. */
describeLifecycle((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('reports in the status of its Module, where nothing of the operator and nothing else can be changed', async () => {
      const name = uniqueName();
      const condition = {
        type: 'DnsReady',
        status: 'True',
        reason: 'Resolved',
        message: 'ok',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      await using server = await startModuleHookServer(({ object }) => {
        const before = object['status'] as Readonly<Record<string, unknown>>;
        return {
          object: {
            ...object,
            metadata: { ...object.metadata, labels: { by: 'hook' } },
            status: { ...before, phase: 'Failed', endpoint: 'https://web', conditions: [condition] },
          },
        };
      });
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['pre-reconcile'])),
      });
      const { world } = made;
      await world.converge();
      const reported = await untilModule(world, name, {
        status: { phase: 'Succeeded', endpoint: 'https://web', release: { revision: 1 } },
      });
      expect(reported.metadata.labels).not.toHaveProperty('by');
      const types = ({ status = {} }: HeldModule) =>
        (status['conditions'] as readonly { readonly type: string }[]).map(({ type }) => type);
      expect(types(reported)).toEqual(expect.arrayContaining(['Ready', 'DnsReady']));
      expect(server.bodies[0]?.object).toMatchObject({
        apiVersion: 'addon-operator.io/v1alpha1',
        kind: 'Module',
        metadata: { name, uid: reported.metadata.uid },
      });
      expect(server.bodies[0]?.object.metadata).not.toHaveProperty('managedFields');
      server.responseWith(({ object }) => ({ object: { ...object, status: { endpoint: 'https://new' } } }));
      await world.putConfig({ [name]: 'a: 1\n' });
      const later = await untilModule(world, name, {
        status: { endpoint: 'https://new', release: { revision: 2 } },
      });
      expect(server.bodies.at(-1)?.object).toMatchObject({ status: { endpoint: 'https://web' } });
      expect(types(later)).not.toContain('DnsReady');
      expect(types(later)).toContain('Ready');
    });

    test('that finalizes sets the finalizer before anything is deployed, and is called before anything is deleted', async () => {
      const name = uniqueName();
      const held: unknown[] = [];
      await using server = await startModuleHookServer(async ({ phase }) => {
        held.push([phase, (await readModule(world, name))?.metadata.finalizers, await isThere(world, name)]);
        return { object: { metadata: { name: 'other' } }, children: { any: 1 } };
      });
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await untilModule(world, name, {
        metadata: { finalizers: [FINALIZER] },
        status: { phase: 'Succeeded' },
      });
      expect(server.bodies).toEqual([]);
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(held).toEqual([['finalize', [FINALIZER], true]]);
      expect(server.bodies).toMatchObject([
        {
          formFactor: 'deployment',
          phase: 'finalize',
          object: { kind: 'Module', metadata: { name } },
          children: { [`ConfigMap/${world.namespace}/${name}`]: { kind: 'ConfigMap' } },
        },
      ]);
      expect(await isThere(world, name)).toBe(false);
      expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
    });

    test('without the capability to finalize sets no finalizer, and removes one that was set before', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, BOTH)),
      });
      const { world } = made;
      await world.converge();
      await untilModule(world, name, {
        metadata: { finalizers: [FINALIZER] },
        status: { phase: 'Succeeded' },
      });
      await world.stop();
      await world.write('modules', {
        [`001-${name}/module.yaml`]: hookSection(server.url, ['pre-reconcile']),
      });
      await world.converge();
      await vi.waitFor(async () => {
        await world.putConfig({ [name]: `a: ${Math.random()}\n` });
        expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
      }, WAIT);
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(server.bodies.map(({ phase }) => phase)).not.toContain('finalize');
    });

    test('that fails to finalize keeps release and Module object until it succeeds', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(refuse({ message: 'volumes are in use' }, 409));
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      for (const tries of [1, 2]) {
        await vi.waitFor(() => expect(server.bodies).toHaveLength(tries), WAIT);
        await world.untilDelayed();
        expect(await isThere(world, name)).toBe(true);
        expect(await readModule(world, name)).toMatchObject({ metadata: { finalizers: [FINALIZER] } });
        if (tries === 1) await world.passDelay();
      }
      await untilModule(world, name, {
        status: { phase: 'Deleting', lastError: expect.stringContaining('volumes are in use') },
      });
      await untilEvent(world, name, {
        reason: 'Failed',
        message: expect.stringContaining('volumes are in use'),
      });
      server.responseWith(NOTHING);
      await world.passDelay();
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(await isThere(world, name)).toBe(false);
      expect((await readModule(world, name))?.metadata.finalizers).toBeUndefined();
    });

    test('that fails to finalize permanently is called again in five minutes, and can let the module continue', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(refuse({ message: 'never', permanent: true }));
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await vi.waitFor(() => expect(server.bodies).toHaveLength(1), WAIT);
      expect(await world.untilDelayed()).toBe(5 * 60_000);
      expect(await isThere(world, name)).toBe(true);
      server.responseWith(refuse({ message: 'leave it', continue: true }));
      await world.passDelay();
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      await untilEvent(world, name, {
        reason: 'HookFailed',
        message: 'finalize: it responded with status 500: leave it',
      });
      expect(await isThere(world, name)).toBe(false);
    });

    test('keeps a Module object that is deleted while the module is enabled, and records why', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: hooked(name, hookSection(server.url, ['finalize'])),
      });
      const { world } = made;
      await world.converge();
      const first = await untilModule(world, name, { metadata: { finalizers: [FINALIZER] } });
      await world.expect({ method: 'DELETE', path: `${MODULES}/${name}` });
      await untilEvent(world, name, {
        reason: 'DeletionHeld',
        message: expect.stringContaining('is disabled'),
      });
      expect(await readModule(world, name)).toMatchObject({
        metadata: { uid: first.metadata.uid, deletionTimestamp: expect.any(String) },
      });
      expect(server.bodies).toEqual([]);
      expect(await isThere(world, name)).toBe(true);
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(server.bodies).toMatchObject([{ phase: 'finalize' }]);
      const second = await untilModule(world, name, { status: { enablement: { enabled: false } } });
      await vi.waitFor(
        async () => expect((await readModule(world, name))?.metadata.uid).not.toBe(first.metadata.uid),
        WAIT,
      );
      expect(second.metadata.finalizers).toBeUndefined();
    });

    test('is called to finalize even without Module objects, and one warning says that nothing is held', async () => {
      const name = uniqueName();
      await using server = await startModuleHookServer(NOTHING);
      await using made = await createHookedWorld(backend(), name, {
        modules: {
          ...hooked(name, hookSection(server.url, BOTH)),
          'values.yaml': `${name}Enabled: true\nmoreEnabled: true\n`,
          '002-more/module.yaml': hookSection(server.url, BOTH),
        },
        flags: { 'module-objects': 'false' },
      });
      const { world } = made;
      await world.converge();
      await world.putConfig({ [`${name}Enabled`]: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(server.phases()).toEqual(['pre-reconcile', 'pre-reconcile', 'finalize']);
      expect(server.bodies.at(-1)?.object).toMatchObject({ kind: 'Module', metadata: { name }, status: {} });
      const warnings = world.log.records.filter(
        ({ level, msg }) =>
          level === 'warn' && String(msg).startsWith('cannot add the finalizer to the Module object'),
      );
      expect(warnings).toHaveLength(1);
    });
  });
});
