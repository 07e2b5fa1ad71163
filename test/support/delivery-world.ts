import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { openRepository } from '@addon-operator/oci/open-repository';
import { expect, vi } from 'vitest';
import { moduleWorld, untilStatus } from './module-world.ts';
import { versionTree } from './store/store-world.ts';
import type { Backend, World, WorldOptions } from './world.ts';
import { type CommandResult, runInWorld } from './world-command.ts';
import { type FileTree, writeTree } from './world-files.ts';

const never = new AbortController().signal;
const API = '/apis/addon-operator.io/v1alpha1';
const PLURALS = { ModuleSource: 'modulesources', ModuleInstall: 'moduleinstalls' } as const;
const WAIT = { timeout: 60_000, interval: 50 };
/** An observation must be made before the time of the next one passes. */
const OBSERVING = { timeout: 60_000, interval: 150 };
/** Changes of statuses are collected for so long. */
const COALESCE_MS = 1_000;
/** The shortest interval of a source, and how often gates are observed. */
export const INTERVAL_MS = 10_000;
const OBSERVE_MS = 5_000;

interface OciManifest {
  readonly layers: readonly [{ readonly digest: string }];
}
type Kind = keyof typeof PLURALS;
type Fields = Readonly<Record<string, unknown>>;

/** A world whose daemon takes modules from registries. Its ModuleSources and ModuleInstalls go with it. */
export class DeliveryWorld implements AsyncDisposable {
  readonly world: World;
  readonly #end: AsyncDisposable;
  readonly #objects: string[] = [];

  private constructor(made: AsyncDisposable & { readonly world: World }) {
    this.world = made.world;
    this.#end = made;
  }

  /** @param names of modules, which are removed at the end */
  static async create(
    backend: Backend,
    names: readonly string[],
    options: WorldOptions = {},
  ): Promise<DeliveryWorld> {
    const env = (directory: string) => ({ ADDON_OPERATOR_MODULE_STORE: join(directory, 'store') });
    return new DeliveryWorld(await moduleWorld(backend, { config: {}, env, ...options }, names));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { backend } = this.world;
    await this.world.stop();
    for (const path of this.#objects) await backend.request({ method: 'DELETE', path });
    await this.#end[Symbol.asyncDispose]();
  }

  /** Pushes a version of a module with the command, and returns its digest. */
  async push(
    url: string,
    name: string,
    version: string,
    {
      files = {},
      channel = 'stable',
      args = [],
    }: { readonly files?: FileTree; readonly channel?: string; readonly args?: readonly string[] } = {},
  ): Promise<string> {
    const directory = join(this.world.directory, 'pushed', version, name);
    await writeTree(directory, { ...versionTree(name, version), ...files });
    const channels = channel === '' ? [] : ['--channel', channel];
    const { stdout } = await this.succeed(
      'module',
      'push',
      directory,
      `${url}/${name}`,
      ...channels,
      ...args,
    );
    return /@(sha256:[0-9a-f]{64})/u.exec(stdout)?.[1] ?? '';
  }

  /** Digest of the content of a version. */
  async layerOf(url: string, name: string, version: string): Promise<string> {
    const repository = openRepository(`${url}/${name}`, { clock: systemClock });
    const { digest = '' } = (await repository.resolve(version, never)) ?? {};
    const { bytes } = await repository.manifest(digest, never);
    const [layer] = (JSON.parse(Buffer.from(bytes).toString()) as OciManifest).layers;
    return layer.digest;
  }

  /** Runs a command that must succeed. */
  async succeed(...args: readonly string[]): Promise<CommandResult> {
    const result = await runInWorld(this.world, ...args);
    expectFields(result, { exitCode: 0, stderr: '' });
    return result;
  }

  /** Creates an object; right after the start its kind may not be served yet. */
  async create(kind: Kind, name: string, spec: Fields): Promise<void> {
    const path = `${API}/${PLURALS[kind]}`;
    const body = { apiVersion: 'addon-operator.io/v1alpha1', kind, metadata: { name }, spec };
    this.#objects.push(`${path}/${name}`);
    await vi.waitFor(async () => {
      await this.world.expect({ method: 'POST', path, body });
    }, WAIT);
  }

  async patch(kind: Kind, name: string, spec: Fields): Promise<void> {
    const path = `${API}/${PLURALS[kind]}/${name}`;
    await this.world.expect({
      method: 'PATCH',
      path,
      body: { spec },
      contentType: 'application/merge-patch+json',
    });
  }

  async status(kind: Kind, name: string): Promise<Fields> {
    const object = await this.world.expect({ path: `${API}/${PLURALS[kind]}/${name}` });
    return fieldsOf(fieldsOf(object)['status']);
  }

  /** Waits until the status of an object has these fields, and writes at once what is to be written. */
  async untilStatus(kind: Kind, name: string, fields: object): Promise<Fields> {
    return await vi.waitFor(async () => {
      this.world.clock.wakeSleeps(COALESCE_MS);
      const status = await this.status(kind, name);
      expectFields(status, fields);
      return status;
    }, WAIT);
  }

  /** Waits until a condition has a status, as `kubectl wait` does, and returns its reason and message. */
  async untilCondition(
    kind: Kind,
    name: string,
    type: string,
    status: 'True' | 'False',
    reason?: string,
  ): Promise<string> {
    return await vi.waitFor(async () => {
      this.world.clock.wakeSleeps(COALESCE_MS);
      const { conditions } = await this.status(kind, name);
      const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
      const found = all.find((each) => each['type'] === type);
      expectFields(found ?? { all }, { status, ...(reason !== undefined && { reason }) });
      return `${stringOf(found?.['reason'])}: ${stringOf(found?.['message'])}`;
    }, WAIT);
  }

  /** Lets sources become due. */
  passInterval(): void {
    this.world.clock.jump(INTERVAL_MS);
  }

  /**
   * Lets time pass again and again, for a loop that waits. While a task of `main` runs none passes: it would end a helm
   * or a hook by its time limit on a slow machine.
   */
  passWhileIdle(ms: number): void {
    if (this.world.daemon.operator.router.main.status.type !== 'running') this.world.clock.jump(ms);
  }

  /** Waits until chart and hooks of one version are live, and its run has ended. */
  async untilRuns(name: string, version: string): Promise<void> {
    await vi.waitFor(async () => {
      const object = await this.world.get('configmaps', name);
      expectFields(object, { data: { chart: version, hook: version } });
    }, WAIT);
    await untilStatus(this.world, name, { phase: 'Succeeded', version });
  }

  /** Lets gates be observed until a status has these fields. */
  async untilObserved(name: string, fields: object): Promise<Fields> {
    return await vi.waitFor(async () => {
      this.passWhileIdle(OBSERVE_MS);
      this.world.clock.wakeSleeps(COALESCE_MS);
      const status = await this.status('ModuleInstall', name);
      expectFields(status, fields);
      return status;
    }, OBSERVING);
  }

  async hasFile(name: string): Promise<boolean> {
    return await access(join(this.world.directory, name)).then(
      () => true,
      () => false,
    );
  }
}

/** That helm has uninstalled nothing. */
export async function expectNothingRemoved(world: World): Promise<void> {
  expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/u));
}

function expectFields(object: unknown, fields: object): void {
  expect(object).toMatchObject(fields);
}

/** What the hooks of all versions noted in a world: `VERSION BINDING`, one run a line. */
export async function runsIn({ directory }: World): Promise<string> {
  return await readFile(join(directory, 'runs'), 'utf8').catch(() => '');
}
