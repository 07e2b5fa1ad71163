import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import {
  addVersion,
  BROKEN,
  lookAtFiles,
  type StoreWorld,
  storeWorld,
  untilLive,
} from '../support/store/store-world.ts';
import { runInWorld } from '../support/world-command.ts';

const WAIT = { timeout: 15_000, interval: 50 };
const signal = new AbortController().signal;

/** Digests of the versions of a module in the store. */
async function digestsIn(world: StoreWorld['world']): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runInWorld(world, 'module', 'store', 'list', '-o', 'json');
  const contents = JSON.parse(stdout) as readonly { readonly version: string; readonly digest: string }[];
  return new Map(contents.map(({ version, digest }) => [version, digest]));
}

describeLifecycle((backend) => {
  test('a requested switch ends when the version runs, takes the section with it, or is refused', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name], { config: { [name]: 'size: 1\n' } });
    const { world } = made;
    const schema = (type: string) => ({
      'openapi/config-values.yaml': `type: object\nproperties: {size: {type: ${type}}}\n`,
    });
    await addVersion(world, name, '1.0.0', schema('integer'));
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await addVersion(world, name, '1.1.0');
    await untilLive(world, name, '1.1.0');
    await world.putConfig({ [name]: 'size: large\n' });
    await vi.waitFor(() => {
      const values = world.daemon.built.configuration.values.configValues(name as never);
      expect(values).toEqual({ size: 'large' });
    }, WAIT);
    const digest = (await digestsIn(world)).get('1.0.0') ?? '';
    const request = { module: name, entry: `030-${name}`, digest, version: '1.0.0' };
    const { switching } = world.daemon.built.modules;
    expect(await switching?.switch(request, signal)).toMatchObject({
      type: 'refused',
      reason: 'SettingsInvalid',
      message: expect.stringContaining('size'),
    });
    await untilLive(world, name, '1.1.0');
    expect(await switching?.switch({ ...request, section: 'size: 2\n' }, signal)).toEqual({
      type: 'switched',
    });
    await untilLive(world, name, '1.0.0');
    const map = await world.get('configmaps', 'addon-operator');
    expect(JSON.stringify(map?.['data'])).toContain('size: 2');
    const missing = { ...request, digest: `sha256:${'0'.repeat(64)}` };
    expect(await switching?.switch(missing, signal)).toMatchObject({
      type: 'refused',
      reason: 'NotLoadable',
    });
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(switching?.switch(request, stopped)).rejects.toThrow('stopped');
    await switching?.remove(`030-${name}`, signal);
    await vi.waitFor(async () => expect(await world.get('configmaps', name)).toBeUndefined(), WAIT);
  });
});

const STEPS = ['good', 'broken', 'back', 'damage', 'event', 'restart'] as const;
type Step = (typeof STEPS)[number];

/** One module in a store, with what is expected of it. */
class History {
  readonly #world: StoreWorld['world'];
  readonly #name: string;
  /** The version that runs, or ran before its files were lost. */
  running = '1.0.0';
  #count = 0;
  #goodVersions: string[] = ['1.0.0'];
  /** Whether the link leads to a version that cannot be loaded. */
  #isBroken = false;
  #isLive = true;
  /** Changes that may lead to a revision. */
  switches = 1;

  constructor(world: StoreWorld['world'], name: string) {
    this.#world = world;
    this.#name = name;
  }

  async step(step: Step): Promise<void> {
    const world = this.#world;
    this.#count += 1;
    const version = `1.${this.#count}.0`;
    switch (step) {
      case 'good':
        await addVersion(world, this.#name, version);
        this.#goodVersions.push(version);
        await this.#expectSwitched(version);
        return;
      case 'broken': {
        const files = BROKEN[this.#count % BROKEN.length] ?? {};
        await addVersion(world, this.#name, version, files);
        this.#isBroken = true;
        await lookAtFiles(world, async () => {
          expect((await runInWorld(world, 'status')).exitCode).toBe(1);
        });
        break;
      }
      case 'back': {
        const target = this.#goodVersions[this.#count % this.#goodVersions.length] ?? '1.0.0';
        const digest = (await digestsIn(world)).get(target) ?? '';
        const request = { module: this.#name, entry: `030-${this.#name}`, digest, version: target };
        const outcome = await world.daemon.built.modules.switching?.switch(request, signal);
        // Its files may be damaged.
        if (outcome?.type === 'switched') await this.#expectSwitched(target);
        break;
      }
      case 'damage': {
        const digest = (await digestsIn(world)).get(this.running) ?? '';
        const content = join(world.directory, 'store/content', digest.replace(':', '-'));
        await rm(join(content, 'Chart.yaml'), { force: true });
        await lookAtFiles(world);
        this.#isLive = false;
        break;
      }
      case 'event':
        await world.create('configmaps', {
          metadata: { name: `event-${this.#count}`, labels: { of: this.#name } } as never,
        });
        break;
      case 'restart':
        await world.stop();
        await world.start();
        this.switches += 1;
        if (this.#isBroken) this.#isLive = false;
        break;
    }
    await this.check();
  }

  async #expectSwitched(version: string): Promise<void> {
    this.running = version;
    this.#isBroken = false;
    this.#isLive = true;
    this.switches += 1;
    await untilLive(this.#world, this.#name, version);
  }

  /** What holds at any time. */
  async check(): Promise<void> {
    const world = this.#world;
    const object = await world.get('configmaps', this.#name);
    expect(object).toMatchObject({ data: { chart: this.running, hook: this.running } });
    const calls = await world.helmCalls();
    expect(calls).not.toContainEqual(expect.stringMatching(/^uninstall/));
    expect(calls.filter((call) => /^(install|upgrade)/.test(call)).length).toBeLessThanOrEqual(this.switches);
    if (!this.#isLive) return;
    const runs = (await readFile(join(world.directory, 'runs'), 'utf8')).trim().split('\n');
    expect(runs.at(-1)?.split(' ')[0]).toBe(this.running);
  }
}

describeApiIndependent((backend) => {
  test('chart and hooks are of one version, and nothing is uninstalled, in any history of a store', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 4, maxLength: 9 }), async (steps) => {
        const name = uniqueName();
        await using made = await storeWorld(backend(), [name]);
        const { world } = made;
        await addVersion(world, name, '1.0.0');
        await world.converge();
        await untilLive(world, name, '1.0.0');
        const history = new History(world, name);
        for (const step of steps) await history.step(step);
        // A good version ends every trouble.
        await history.step('good');
        await lookAtFiles(world, async () => {
          expect((await runInWorld(world, 'status')).exitCode).toBe(0);
        });
        await history.check();
      }),
      {
        seed: Number(process.env['PROPERTY_SEED'] ?? 35),
        numRuns: Number(process.env['PROPERTY_RUNS'] ?? 6),
        endOnFailure: true,
      },
    );
  });
});
