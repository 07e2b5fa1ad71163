import { expect, vi } from 'vitest';
import type { ModuleHookBehaviour } from './module-hook-server.ts';
import { type Backend, World, type WorldOptions } from './world.ts';
import { configMapChart, type FileTree, under } from './world-files.ts';

/** Path of all Modules. */
export const MODULES = '/apis/addon-operator.io/v1alpha1/modules';
export const FINALIZER = 'addon-operator.io/finalize-hook';
export const WAIT = { timeout: 60_000, interval: 100 };
export const BOTH = ['pre-reconcile', 'finalize'];
export const NOTHING: ModuleHookBehaviour = () => ({});

export interface HeldModule {
  readonly metadata: {
    readonly uid: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Modules have no namespace: each test uses a name of its own. */
export function uniqueName(): string {
  return `h${Array.from({ length: 8 }, () => 'abcdefghijklmnop'.charAt(Math.random() * 16)).join('')}`;
}

/** A module with one ConfigMap of its name, and this `module.yaml`. */
export function hooked(name: string, manifest: string, more: FileTree = {}): FileTree {
  return {
    'values.yaml': `${name}Enabled: true\n`,
    ...under(`001-${name}`, { ...configMapChart(name, name), 'module.yaml': manifest, ...more }),
  };
}

/** A world whose daemon keeps Module objects; the one with this name goes with it. */
export async function createHookedWorld(backend: Backend, name: string, options: WorldOptions) {
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

/** The object of a module; undefined where there is none. */
export async function readModule(world: World, name: string): Promise<HeldModule | undefined> {
  const { status, body } = await world.backend.request({ path: `${MODULES}/${name}` });
  return status === 404 ? undefined : (body as HeldModule);
}

/** Waits until the object of a module has these fields. */
export async function untilModule(world: World, name: string, fields: object): Promise<HeldModule> {
  return await vi.waitFor(async () => {
    const object = await readModule(world, name);
    expect(object).toMatchObject(fields);
    if (object === undefined) throw new Error(`there is no Module ${name}`);
    return object;
  }, WAIT);
}

/** Waits until an Event about a module has these fields. */
export async function untilEvent(world: World, name: string, event: object): Promise<void> {
  await vi.waitFor(async () => {
    const { items } = (await world.expect({ path: '/api/v1/namespaces/default/events' })) as {
      readonly items: readonly object[];
    };
    const wanted = { involvedObject: expect.objectContaining({ name }), ...event };
    expect(items).toContainEqual(expect.objectContaining(wanted));
  }, WAIT);
}

/** Whether the ConfigMap of a module is deployed. */
export async function isThere(world: World, name: string): Promise<boolean> {
  return (await world.get('configmaps', name)) !== undefined;
}
