import { expect, vi } from 'vitest';
import { COALESCE_MS } from '../../src/status/module-objects.ts';
import { type Backend, World, type WorldOptions } from './world.ts';

const MODULES = '/apis/addon-operator.io/v1alpha1/modules';
const WAIT = { timeout: 60_000, interval: 50 };

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export interface ModuleInCluster {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly [field: string]: unknown };
}

export interface EventInCluster {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** Path of a Module. */
export function modulePath(name: string): string {
  return `${MODULES}/${name}`;
}

/** Modules have no namespace: each test uses names of its own, which are also good keys of values. */
export function uniqueName(): string {
  return `m${Array.from({ length: 8 }, () => 'abcdefghijklmnop'.charAt(Math.random() * 16)).join('')}`;
}

/** A world whose daemon keeps Module objects; they go with it. */
export async function moduleWorld(
  backend: Backend,
  options: WorldOptions,
  names: readonly string[],
): Promise<AsyncDisposable & { readonly world: World }> {
  const world = await World.create(backend, {
    ...options,
    flags: { 'module-objects': 'true', ...options.flags },
  });
  return {
    world,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      for (const name of names) await backend.request({ method: 'DELETE', path: modulePath(name) });
    },
  };
}

/** The Module of a module; undefined without one. */
export async function readModule(world: World, name: string): Promise<ModuleInCluster | undefined> {
  const { status, body } = await world.backend.request({ path: modulePath(name) });
  return status === 404 ? undefined : (body as ModuleInCluster);
}

/** Waits until the status of a module has these fields, and returns the object. What is to be written is written at once. */
export async function untilStatus(world: World, name: string, fields: object): Promise<ModuleInCluster> {
  return await vi.waitFor(async () => {
    world.clock.wakeSleeps(COALESCE_MS);
    const object = await readModule(world, name);
    expect(object).toMatchObject({ status: fields });
    if (object === undefined) throw new Error(`there is no Module ${name}`);
    return object;
  }, WAIT);
}

/** Events about a module. */
export async function eventsOf(world: World, name: string): Promise<readonly EventInCluster[]> {
  const { items } = (await world.expect({ path: '/api/v1/namespaces/default/events' })) as {
    readonly items: readonly (EventInCluster & { readonly involvedObject: { readonly name: string } })[];
  };
  return items.filter(({ involvedObject }) => involvedObject.name === name);
}
