import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runInWorld } from '../world-command.ts';
import { addVersion, BROKEN, lookAtFiles, type StoreWorld, untilLive } from './store-world.ts';

const signal = new AbortController().signal;

/** Digests of the versions of a module in the store. */
export async function digestsIn(world: StoreWorld['world']): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runInWorld(world, 'module', 'store', 'list', '-o', 'json');
  const contents = JSON.parse(stdout) as readonly { readonly version: string; readonly digest: string }[];
  return new Map(contents.map(({ version, digest }) => [version, digest]));
}

/** What can happen to a module in a store. */
export const STEPS = ['good', 'broken', 'back', 'damage', 'event', 'restart'] as const;
type Step = (typeof STEPS)[number];

/** One module in a store, with what is expected of it. */
export class SwitchHistory {
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
        await expectBroken(world);
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
    const { running, switches } = this;
    await expectOneVersion(this.#world, this.#name, { running, switches, isLive: this.#isLive });
  }
}

async function expectBroken(world: StoreWorld['world']): Promise<void> {
  await lookAtFiles(world, async () => {
    const { exitCode, stdout } = await runInWorld(world, 'status');
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 1 });
  });
}

/** Chart and hooks are of one version, nothing is uninstalled, and there are not too many revisions. */
async function expectOneVersion(
  world: StoreWorld['world'],
  name: string,
  expected: { readonly running: string; readonly switches: number; readonly isLive: boolean },
): Promise<void> {
  const { running, switches, isLive } = expected;
  const object = await world.get('configmaps', name);
  expect(object).toMatchObject({ data: { chart: running, hook: running } });
  const calls = await world.helmCalls();
  expect(calls).not.toContainEqual(expect.stringMatching(/^uninstall/));
  expect(calls.filter((call) => /^(install|upgrade)/.test(call)).length).toBeLessThanOrEqual(switches);
  if (!isLive) return;
  const runs = (await readFile(join(world.directory, 'runs'), 'utf8')).trim().split('\n');
  expect(runs.at(-1)?.split(' ')[0]).toBe(running);
}
