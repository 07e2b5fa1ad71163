import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { answerJson } from '../support/loopback-server.ts';
import {
  hookSection,
  type ModuleHookBehaviour,
  refuse,
  startModuleHookServer,
} from '../support/module-hook-server.ts';
import { type Backend, World, type WorldOptions } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, under } from '../support/world-files.ts';

const MODULES = '/apis/addon-operator.io/v1alpha1/modules';
const FINALIZER = 'addon-operator.io/finalize-hook';
const WAIT = { timeout: 30_000, interval: 100 };
const BOTH = ['pre-reconcile', 'finalize'];
const NOTHING: ModuleHookBehaviour = () => ({});

interface ModuleInCluster {
  readonly metadata: {
    readonly uid: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Modules have no namespace: each test uses a name of its own. */
function uniqueName(): string {
  return `h${Array.from({ length: 8 }, () => 'abcdefghijklmnop'.charAt(Math.random() * 16)).join('')}`;
}

/** A module with one ConfigMap of its name, and this `module.yaml`. */
function hooked(name: string, manifest: string, more: FileTree = {}): FileTree {
  return {
    'values.yaml': `${name}Enabled: true\n`,
    ...under(`001-${name}`, { ...configMapChart(name, name), 'module.yaml': manifest, ...more }),
  };
}

/** A world whose daemon keeps Module objects; the one with this name goes with it. */
async function createWorld(backend: Backend, name: string, options: WorldOptions) {
  const flags = { 'module-objects': 'true', ...options.flags };
  const world = await World.create(backend, { config: {}, ...options, flags });
  return {
    world,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      await backend.request({
        method: 'PATCH',
        path: `${MODULES}/${name}`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: null } },
      });
      await backend.request({ method: 'DELETE', path: `${MODULES}/${name}` });
    },
  };
}

async function read(world: World, name: string): Promise<ModuleInCluster | undefined> {
  const { status, body } = await world.backend.request({ path: `${MODULES}/${name}` });
  return status === 404 ? undefined : (body as ModuleInCluster);
}

/** Waits until the object of a module has these fields. */
async function untilModule(world: World, name: string, fields: object): Promise<ModuleInCluster> {
  return await vi.waitFor(async () => {
    const object = await read(world, name);
    expect(object).toMatchObject(fields);
    if (object === undefined) throw new Error(`there is no Module ${name}`);
    return object;
  }, WAIT);
}

async function untilEvent(world: World, name: string, event: object): Promise<void> {
  await vi.waitFor(async () => {
    const { items } = (await world.expect({ path: '/api/v1/namespaces/default/events' })) as {
      readonly items: readonly object[];
    };
    const wanted = { involvedObject: expect.objectContaining({ name }), ...event };
    expect(items).toContainEqual(expect.objectContaining(wanted));
  }, WAIT);
}

async function isThere(world: World, name: string): Promise<boolean> {
  return (await world.get('configmaps', name)) !== undefined;
}

/** What servers of modules do to Module objects, and what these do for them. */
export function moduleHookObjectTests(backend: () => Backend): void {
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
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['pre-reconcile'])),
    });
    const { world } = made;
    await world.converge();
    const reported = await untilModule(world, name, {
      status: { phase: 'Succeeded', endpoint: 'https://web', release: { revision: 1 } },
    });
    expect(reported.metadata.labels).not.toHaveProperty('by');
    const types = ({ status = {} }: ModuleInCluster) =>
      (status['conditions'] as readonly { readonly type: string }[]).map(({ type }) => type);
    expect(types(reported)).toEqual(expect.arrayContaining(['Ready', 'DnsReady']));
    expect(server.bodies[0]?.object).toMatchObject({
      apiVersion: 'addon-operator.io/v1alpha1',
      kind: 'Module',
      metadata: { name, uid: reported.metadata.uid },
    });
    expect(server.bodies[0]?.object.metadata).not.toHaveProperty('managedFields');
    server.answerWith(({ object }) => ({ object: { ...object, status: { endpoint: 'https://new' } } }));
    await world.putConfig({ [name]: 'a: 1\n' });
    const later = await untilModule(world, name, {
      status: { endpoint: 'https://new', release: { revision: 2 } },
    });
    expect(server.bodies.at(-1)?.object).toMatchObject({ status: { endpoint: 'https://web' } });
    expect(types(later)).not.toContain('DnsReady');
    expect(types(later)).toContain('Ready');
  });

  test('that finalizes holds the Module before anything is deployed, and is told before anything is deleted', async () => {
    const name = uniqueName();
    const held: unknown[] = [];
    await using server = await startModuleHookServer(async ({ phase }) => {
      held.push([phase, (await read(world, name))?.metadata.finalizers, await isThere(world, name)]);
      return { object: { metadata: { name: 'other' } }, children: { any: 1 } };
    });
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['finalize'])),
    });
    const { world } = made;
    await world.converge();
    await untilModule(world, name, { metadata: { finalizers: [FINALIZER] }, status: { phase: 'Succeeded' } });
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
    expect((await read(world, name))?.metadata.finalizers).toBeUndefined();
  });

  test('without the capability to finalize holds nothing, and lets go of what it held before', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, BOTH)),
    });
    const { world } = made;
    await world.converge();
    await untilModule(world, name, { metadata: { finalizers: [FINALIZER] }, status: { phase: 'Succeeded' } });
    await world.stop();
    await world.write('modules', { [`001-${name}/module.yaml`]: hookSection(server.url, ['pre-reconcile']) });
    await world.converge();
    await vi.waitFor(async () => {
      await world.putConfig({ [name]: `a: ${Math.random()}\n` });
      expect((await read(world, name))?.metadata.finalizers).toBeUndefined();
    }, WAIT);
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(server.bodies.map(({ phase }) => phase)).not.toContain('finalize');
  });

  test('that cannot finalize keeps release and Module until it can', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(refuse({ message: 'volumes are in use' }, 409));
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['finalize'])),
    });
    const { world } = made;
    await world.converge();
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    for (const tries of [1, 2]) {
      await vi.waitFor(() => expect(server.bodies).toHaveLength(tries), WAIT);
      await world.untilDelayed();
      expect(await isThere(world, name)).toBe(true);
      expect(await read(world, name)).toMatchObject({ metadata: { finalizers: [FINALIZER] } });
      if (tries === 1) await world.passDelay();
    }
    await untilModule(world, name, {
      status: { phase: 'Deleting', lastError: expect.stringContaining('volumes are in use') },
    });
    await untilEvent(world, name, {
      reason: 'Failed',
      message: expect.stringContaining('volumes are in use'),
    });
    server.answerWith(NOTHING);
    await world.passDelay();
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await isThere(world, name)).toBe(false);
    expect((await read(world, name))?.metadata.finalizers).toBeUndefined();
  });

  test('that refuses to finalize for good is asked again in five minutes, and can let the module continue', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(refuse({ message: 'never', permanent: true }));
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['finalize'])),
    });
    const { world } = made;
    await world.converge();
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    await vi.waitFor(() => expect(server.bodies).toHaveLength(1), WAIT);
    expect(await world.untilDelayed()).toBe(5 * 60_000);
    expect(await isThere(world, name)).toBe(true);
    server.answerWith(refuse({ message: 'leave it', continue: true }));
    await world.passDelay();
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    await untilEvent(world, name, {
      reason: 'HookFailed',
      message: 'finalize: it answered with status 500: leave it',
    });
    expect(await isThere(world, name)).toBe(false);
  });

  test('that has agreed is not asked again when what follows in the deletion fails', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    const hook =
      '#!/bin/sh\nif [ "$1" = --config ]; then echo \'{"configVersion": "v1", "beforeDeleteHelm": 1}\'; exit; fi\n';
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['finalize']), {
        'hooks/once.sh': `${hook}[ -e "$WORLD/failed" ] || { touch "$WORLD/failed"; exit 1; }\n`,
      }),
    });
    const { world } = made;
    await world.converge();
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    await world.passDelay();
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(server.bodies).toHaveLength(1);
  });

  test('that is gone for good is left out of the deletion with release-finalizer', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    await using made = await createWorld(backend(), name, {
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
    expect(world.daemon.operator.main.entries[0]?.lastError).toMatch(/finalize failed: POST .*ECONNREFUSED/);
    expect(await release()).toEqual({
      exitCode: 0,
      stdout: `module ${name} is deleted without its HTTP hook\n`,
      stderr: '',
    });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await isThere(world, name)).toBe(false);
    expect((await read(world, name))?.metadata.finalizers).toBeUndefined();
    await untilEvent(world, name, { type: 'Warning', reason: 'FinalizerReleased' });
    expect(await release()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`nothing of ${name} waits for an HTTP hook`),
    });
  });

  test('keeps the Module that somebody deletes while the module is enabled, and says why', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    await using made = await createWorld(backend(), name, {
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
    expect(await read(world, name)).toMatchObject({
      metadata: { uid: first.metadata.uid, deletionTimestamp: expect.any(String) },
    });
    expect(server.bodies).toEqual([]);
    expect(await isThere(world, name)).toBe(true);
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(server.bodies).toMatchObject([{ phase: 'finalize' }]);
    const second = await untilModule(world, name, { status: { enablement: { enabled: false } } });
    await vi.waitFor(
      async () => expect((await read(world, name))?.metadata.uid).not.toBe(first.metadata.uid),
      WAIT,
    );
    expect(second.metadata.finalizers).toBeUndefined();
  });

  test('finalizes a module whose directory is gone, by what its Module says', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    await using made = await createWorld(backend(), name, {
      modules: hooked(name, hookSection(server.url, ['finalize'])),
    });
    const { world } = made;
    await world.converge();
    await untilModule(world, name, { status: { phase: 'Succeeded' } });
    await world.stop();
    await rm(join(world.directory, 'modules', `001-${name}`), { recursive: true });
    server.answerWith((_body, response) => {
      answerJson(response, 503, { message: 'not yet' });
      return undefined;
    });
    await world.converge();
    await world.log.untilMessage('Module purge failed, its HTTP hook is asked again in five minutes.');
    expect(await isThere(world, name)).toBe(true);
    await untilModule(world, name, { metadata: { deletionTimestamp: expect.any(String) } });
    server.answerWith(NOTHING);
    expect(await runInWorld(world, 'module', 'release-finalizer', name)).toMatchObject({ exitCode: 0 });
    await vi.waitFor(async () => expect(await read(world, name)).toBeUndefined(), WAIT);
    expect(await isThere(world, name)).toBe(false);
  });

  test('is told to finalize after a restart, though nothing but the Module is left to be deleted', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(refuse({ message: 'not yet' }));
    await using made = await createWorld(backend(), name, {
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
    server.answerWith(NOTHING);
    await world.converge();
    await vi.waitFor(async () => {
      expect((await read(world, name))?.metadata.finalizers).toBeUndefined();
    }, WAIT);
    expect(server.phases()).toEqual(['finalize', 'finalize']);
  });

  test('is told to finalize also where Modules are not kept, and one warning says that nothing is held', async () => {
    const name = uniqueName();
    await using server = await startModuleHookServer(NOTHING);
    await using made = await createWorld(backend(), name, {
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
      ({ level, msg }) => level === 'warn' && String(msg).startsWith('Module object gets no finalizer'),
    );
    expect(warnings).toHaveLength(1);
  });
}
