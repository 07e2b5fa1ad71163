import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import semverLess from 'semver/functions/lt.js';
import { expect, vi } from 'vitest';
import { type DeliveryWorld, expectNothingRemoved, runsIn } from './delivery-world.ts';
import type { FaultRegistry } from './oci/fault-registry.ts';
import { BROKEN } from './store/store-world.ts';
import { type CommandResult, runInWorld } from './world-command.ts';

/** What `module push` cannot see. */
const UNSEEN = BROKEN.filter((files) => files['module.yaml'] === undefined);
const WAIT = { timeout: 60_000, interval: 100 };

/** What can happen to a module that comes from a channel. */
export const DELIVERY_STEPS = [
  'good',
  'broken',
  'older',
  'outage',
  'rollback',
  'restart',
  'interrupt',
  'lose',
] as const;
type Step = (typeof DELIVERY_STEPS)[number];

interface Pushed {
  readonly digest: string;
  readonly isBroken: boolean;
}

/** One module from a channel of a registry, with what is expected of it. */
export class DeliveryHistory {
  readonly #lab: DeliveryWorld;
  readonly #registry: FaultRegistry;
  readonly #name: string;
  readonly #pushed = new Map<string, Pushed>();
  readonly #ran = new Set<string>();
  readonly #failed = new Set<string>();
  #channel = '';
  #running = '';
  #isAway = false;

  constructor(lab: DeliveryWorld, registry: FaultRegistry, name: string) {
    this.#lab = lab;
    this.#registry = registry;
    this.#name = name;
  }

  get #url(): string {
    return this.#registry.url('platform');
  }

  async step(step: Step): Promise<void> {
    const { world } = this.#lab;
    switch (step) {
      case 'good':
      case 'broken':
        await this.#push(step === 'broken');
        break;
      case 'older':
        await this.#promote([...this.#pushed.keys()].at(-2) ?? this.#channel);
        break;
      case 'outage':
        this.#isAway = !this.#isAway;
        await this.#setFaults();
        break;
      case 'rollback':
        await this.#rollBack();
        break;
      case 'interrupt':
        this.#lab.passInterval();
        await world.stop();
        await world.start();
        break;
      case 'restart':
      case 'lose':
        await world.stop();
        if (step === 'lose') await rm(join(world.directory, 'store'), { recursive: true });
        await world.start();
        break;
    }
    await this.settle();
  }

  async mend(): Promise<void> {
    this.#isAway = false;
    await this.#setFaults();
  }

  /** The commands of people reach the registry at any time. */
  async #setFaults(): Promise<void> {
    await this.#registry.setFaults(...(this.#isAway ? [{ path: '/v2/', status: 503 }] : []));
  }

  async #withRegistry(act: () => Promise<void>): Promise<void> {
    await this.#registry.setFaults();
    await act();
    await this.#setFaults();
  }

  async #push(isBroken: boolean): Promise<void> {
    const count = this.#pushed.size;
    const version = `1.${count}.0`;
    const files = isBroken ? (UNSEEN[count % UNSEEN.length] ?? {}) : {};
    await this.#withRegistry(async () => {
      const digest = await this.#lab.push(this.#url, this.#name, version, { files });
      this.#pushed.set(version, { digest, isBroken });
    });
    this.#channel = version;
  }

  async #promote(version: string): Promise<void> {
    await this.#withRegistry(async () => {
      await this.#lab.succeed('module', 'promote', `${this.#url}/${this.#name}:${version}`, 'stable');
    });
    this.#channel = version;
  }

  async #rollBack(): Promise<void> {
    const result = await runInWorld(this.#lab.world, 'module', 'rollback', this.#name);
    const others = [...this.#ran].filter((each) => each !== this.#running && !this.#failed.has(each));
    const version = expectRollback(result, others);
    if (version === undefined) return;
    this.#failed.add(this.#running);
    this.#running = version;
  }

  /** Waits until what is wanted is known and decided, and checks what holds at any time. */
  async settle(): Promise<void> {
    const { world } = this.#lab;
    if (!this.#isAway) {
      const { digest, isBroken } = this.#pushed.get(this.#channel) ?? { digest: '', isBroken: true };
      const isOlder = this.#running !== '' && semverLess(this.#channel, this.#running);
      if (!isBroken && !isOlder && !this.#failed.has(this.#channel)) this.#running = this.#channel;
      await vi.waitFor(async () => {
        this.#lab.passInterval();
        const status = await this.#lab.status('ModuleInstall', this.#name);
        expectWanted(status, digest, this.#running === this.#channel);
      }, WAIT);
    }
    await this.#lab.untilRuns(this.#name, this.#running);
    await this.#lab.untilObserved(this.#name, { lastGood: { version: this.#running } });
    this.#ran.add(this.#running);
    await expectNothingRemoved(world);
    const bad = [...this.#pushed].flatMap(([version, { isBroken }]) => (isBroken ? [version] : []));
    expectRuns(await runsIn(world), this.#running, bad);
  }
}

/** @returns the version that runs again; undefined when there is none to return to */
function expectRollback(
  { exitCode, stdout, stderr }: CommandResult,
  others: readonly string[],
): string | undefined {
  const code = others.length === 0 ? 1 : 0;
  const said = others.length === 0 ? expect.stringContaining('no other version') : '';
  expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr: said });
  const version = /version (\S+)\n/u.exec(stdout)?.[1];
  if (code === 0) expect(others).toContain(version);
  return version;
}

/** What is wanted and does not run waits. */
function expectWanted(status: object, digest: string, isRunning: boolean): void {
  expect(status).toMatchObject({ wanted: { digest }, ...(!isRunning && { pending: { digest } }) });
}

/** The last run is of the version that runs, and none was of a bad one. */
function expectRuns(text: string, running: string, bad: readonly string[]): void {
  const versions = text
    .trim()
    .split('\n')
    .map((run) => run.split(' ')[0]);
  expect(versions.at(-1)).toBe(running);
  for (const version of bad) expect(versions).not.toContain(version);
}
