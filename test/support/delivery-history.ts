import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import semverLess from 'semver/functions/lt.js';
import { expect, vi } from 'vitest';
import type { CosignSigner } from './cosign-signer.ts';
import { type DeliveryWorld, expectNothingRemoved, INTERVAL_MS, runsIn } from './delivery-world.ts';
import { attachBundle } from './oci/cosign-artifacts.ts';
import type { FaultRegistry, RegistryFault } from './oci/fault-registry.ts';
import { type Revision, revisionsOf } from './release-revisions.ts';
import { BROKEN } from './store/store-world.ts';
import { type CommandResult, runInWorld } from './world-command.ts';

/** What `module push` cannot see. */
const UNSEEN = BROKEN.filter((files) => files['module.yaml'] === undefined);
const WAIT = { timeout: 60_000, interval: 100 };

/** What can happen to a module that comes from a channel. */
export const DELIVERY_STEPS = [
  'good',
  'broken',
  'unsigned',
  'foreign',
  'older',
  'shorter',
  'empty',
  'outage',
  'rollback',
  'restart',
  'interrupt',
  'lose',
] as const;
type Step = (typeof DELIVERY_STEPS)[number];
type Kind = 'good' | 'broken' | 'unsigned' | 'foreign';

interface Pushed {
  readonly digest: string;
  readonly kind: Kind;
}

/** Why a version that is wanted does not run. */
interface Waiting {
  readonly digest?: string;
  readonly reason: string | undefined;
}

/** Why a version of each kind is never installed. */
const REASONS = { good: undefined, broken: 'NotLoadable', unsigned: 'Unverified', foreign: 'Unverified' };

/** One module from a channel of a registry, whose versions are signed, with what is expected of it. */
export class DeliveryHistory {
  readonly #lab: DeliveryWorld;
  readonly #registry: FaultRegistry;
  readonly #name: string;
  readonly #signer: CosignSigner;
  readonly #pushed = new Map<string, Pushed>();
  readonly #ran = new Set<string>();
  readonly #failed = new Set<string>();
  #channel = '';
  #running = '';
  #isAway = false;
  /** How many runs of hooks were checked. */
  #checkedRuns = 0;

  constructor(lab: DeliveryWorld, registry: FaultRegistry, name: string, signer: CosignSigner) {
    this.#lab = lab;
    this.#registry = registry;
    this.#name = name;
    this.#signer = signer;
  }

  get #url(): string {
    return this.#registry.url('platform');
  }

  async step(step: Step): Promise<void> {
    const { world } = this.#lab;
    const before = this.#running;
    switch (step) {
      case 'good':
      case 'broken':
      case 'unsigned':
      case 'foreign':
        await this.#push(step);
        break;
      case 'older':
        await this.#promote(this.#olderVersion() ?? this.#channel);
        break;
      case 'shorter':
        await this.#shortenList();
        break;
      case 'empty':
        await this.#emptySource();
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
    await this.settle(before);
  }

  async mend(): Promise<void> {
    this.#isAway = false;
    await this.#setFaults();
  }

  async #setFaults(): Promise<void> {
    await this.#registry.setFaults(...(this.#isAway ? [{ path: '/v2/', status: 503 }] : []));
  }

  async #withRegistry(act: () => Promise<void>, ...faults: readonly RegistryFault[]): Promise<void> {
    await this.#registry.setFaults(...faults);
    await act();
    await this.#setFaults();
  }

  /** The commands of people reach the registry in an outage too. The operator, which would see it, is stopped for them. */
  async #asPerson(act: () => Promise<void>): Promise<void> {
    if (!this.#isAway) return await act();
    await this.#lab.world.stop();
    await this.#withRegistry(act);
    await this.#lab.world.start();
  }

  async #push(kind: Kind): Promise<void> {
    const count = this.#pushed.size;
    const version = `1.${count}.0`;
    const files = kind === 'broken' ? (UNSEEN[count % UNSEEN.length] ?? {}) : {};
    await this.#asPerson(async () => {
      const digest = await this.#lab.push(this.#url, this.#name, version, { files });
      const signed = kind === 'foreign' ? this.#pushed.get('1.0.0')?.digest : digest;
      if (kind !== 'unsigned' && signed !== undefined)
        await attachBundle(`${this.#url}/${this.#name}`, digest, this.#signer.bundle(signed));
      this.#pushed.set(version, { digest, kind });
    });
    this.#channel = version;
  }

  /** The newest version before the one that runs, to which nothing but its age is objected. */
  #olderVersion(): string | undefined {
    return [...this.#pushed.keys()].findLast((version) => this.#isFine(version) && this.#isOlder(version));
  }

  #isFine(version: string): boolean {
    return this.#pushed.get(version)?.kind === 'good' && !this.#failed.has(version);
  }

  #isOlder(version: string): boolean {
    return this.#running !== '' && semverLess(version, this.#running);
  }

  async #promote(version: string): Promise<void> {
    await this.#asPerson(async () => {
      await this.#lab.succeed('module', 'promote', `${this.#url}/${this.#name}:${version}`, 'stable');
    });
    this.#channel = version;
  }

  /** For a while the highest version of a range is wanted, and the registry lists an older one only. */
  async #shortenList(): Promise<void> {
    const older = this.#olderVersion();
    if (older === undefined) return;
    const list = { path: '/tags/list', body: JSON.stringify({ name: this.#name, tags: [older] }) };
    await this.#withRegistry(async () => {
      await this.#lab.patch('ModuleInstall', this.#name, { version: { channel: null, range: '>=1.0.0' } });
      const digest = this.#pushed.get(older)?.digest ?? '';
      await this.#untilDecided({ digest, reason: 'NeedsApproval' });
      await this.#lab.untilRuns(this.#name, this.#running);
    }, list);
    await this.#lab.patch('ModuleInstall', this.#name, { version: { channel: 'stable', range: null } });
  }

  /** For a while the registry answers, and has nothing. */
  async #emptySource(): Promise<void> {
    const empty = [
      { path: '/tags/list', body: JSON.stringify({ name: this.#name, tags: [] }) },
      { path: '/(manifests|blobs|referrers)/', status: 404 },
    ];
    await this.#withRegistry(
      async () => {
        await this.#untilDecided({ reason: 'NotFound' });
        await this.#lab.untilRuns(this.#name, this.#running);
      },
      ...empty,
    );
  }

  async #rollBack(): Promise<void> {
    const result = await runInWorld(this.#lab.world, 'module', 'rollback', this.#name);
    const others = [...this.#ran].filter((each) => each !== this.#running && !this.#failed.has(each));
    const version = expectRollback(result, others);
    if (version === undefined) return;
    this.#failed.add(this.#running);
    this.#running = version;
  }

  /** Lets time pass until the status says what is wanted, and why it waits. */
  async #untilDecided(waiting: Waiting): Promise<void> {
    await vi.waitFor(async () => {
      this.#lab.passWhileIdle(INTERVAL_MS);
      expectDecided(await this.#lab.status('ModuleInstall', this.#name), waiting);
    }, WAIT);
  }

  #wanted(): Waiting {
    const version = this.#channel;
    const { digest, kind } = this.#pushed.get(version) ?? { digest: '', kind: 'good' };
    if (version === this.#running) return { digest, reason: undefined };
    const reason = REASONS[kind] ?? (this.#failed.has(version) ? 'Failed' : undefined);
    return { digest, reason: reason ?? (this.#isOlder(version) ? 'NeedsApproval' : undefined) };
  }

  /**
   * Waits until what is wanted is known and decided, and checks what holds at any time.
   *
   * @param before the version that ran before the step
   */
  async settle(before: string): Promise<void> {
    const { world } = this.#lab;
    if (!this.#isAway) {
      const wanted = this.#wanted();
      if (wanted.reason === undefined) this.#running = this.#channel;
      await this.#untilDecided(wanted);
    }
    await this.#lab.untilRuns(this.#name, this.#running);
    await this.#lab.untilObserved(this.#name, { lastGood: { version: this.#running } });
    this.#ran.add(this.#running);
    await expectNothingRemoved(world);
    expectWholeRevisions(await revisionsOf(world, this.#name), this.#pushed, this.#running);
    const runs = (await runsIn(world)).trim().split('\n');
    expectOneAfterTheOther(runs.slice(this.#checkedRuns), [before, this.#running]);
    this.#checkedRuns = runs.length;
  }
}

function expectDecided(
  { wanted, pending }: Readonly<Record<string, unknown>>,
  { digest, reason }: Waiting,
): void {
  if (digest !== undefined) expect(wanted).toMatchObject({ digest });
  if (reason === undefined) expect(pending).toBeUndefined();
  else expect(pending).toMatchObject({ reason, ...(digest !== undefined && { digest }) });
}

/** Chart and hooks of each revision are of one version, which was good. */
function expectWholeRevisions(
  revisions: readonly Revision[],
  pushed: ReadonlyMap<string, Pushed>,
  running: string,
): void {
  expect(revisions.at(-1)?.version).toBe(running);
  for (const { version, manifest } of revisions) {
    expect(pushed.get(version)).toMatchObject({ kind: 'good' });
    expect(manifest).toContain(`data: {chart: "${version}", hook: "${version}"}`);
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

/** After the first run of a hook of the new version there is none of the old one. */
function expectOneAfterTheOther(runs: readonly string[], versions: readonly string[]): void {
  const ran = runs.map((run) => run.split(' ')[0] ?? '');
  const changes = ran.filter((version, index) => version !== ran[index - 1]);
  const [before, running] = versions;
  const allowed = [[], [before], [running], [before, running]];
  expect(allowed).toContainEqual(changes);
}
