import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import type { Descriptor, FetchedManifest, Repository } from '@addon-operator/oci/repository';
import type { ArtifactFacts, ModuleArtifact } from '../../src/artifacts/module-artifact.ts';
import type { ContentBackup } from '../../src/delivery/content-backup.ts';
import { Delivery } from '../../src/delivery/delivery.ts';
import type { DeliveryEvent, DeliveryParts, SourceAccess } from '../../src/delivery/delivery-parts.ts';
import type { GateResult } from '../../src/delivery/gates.ts';
import type { HistoryEntry } from '../../src/delivery/history.ts';

import type { InstallState } from '../../src/delivery/install-state.ts';
import type { SwitchOutcome, SwitchRequest } from '../../src/delivery/module-switch.ts';
import { parseInstall, parseSource } from '../../src/delivery/parse-spec.ts';
import type { StateStore } from '../../src/delivery/state-store.ts';
import type { ContentStore, NewContent, StoredContent } from '../../src/module-store/content-store.ts';
import { FakeClock, settle } from './fake-clock.ts';

/** The digest of a version of a module in {@link LabRegistry}. */
export function labDigest(module: string, version: string): string {
  return `sha256:${Buffer.from(`${module}@${version}`).toString('hex').padEnd(64, '0').slice(0, 64)}`;
}

interface Published {
  readonly module: string;
  readonly facts: ArtifactFacts;
  isSigned: boolean;
}

/** Repositories in memory, with faults. */
export class LabRegistry {
  readonly #tags = new Map<string, Map<string, string>>();
  readonly #published = new Map<string, Published>();
  /** What every request fails with. */
  fault: OperatorError | undefined;
  /** Modules whose requests fail. */
  readonly faults = new Map<string, OperatorError>();
  /** One line for each request. */
  readonly requests: string[] = [];
  onRequest: () => void = () => undefined;

  /** Publishes a version, with its version tag. */
  push(module: string, version: string, facts: Partial<ArtifactFacts> = {}, isSigned = true): string {
    const digest = labDigest(module, version);
    this.#published.set(digest, { module, facts: { version, name: module, ...facts }, isSigned });
    this.tag(module, version, digest);
    return digest;
  }

  tag(module: string, tag: string, digest: string): void {
    const tags = this.#tags.get(module) ?? new Map<string, string>();
    this.#tags.set(module, tags.set(tag, digest));
  }

  untag(module: string, tag: string): void {
    this.#tags.get(module)?.delete(tag);
  }

  published(digest: string): Published | undefined {
    return this.#published.get(digest);
  }

  repository(module: string): Repository {
    const request = async (what: string): Promise<void> => {
      this.requests.push(`${module} ${what}`);
      this.onRequest();
      await Promise.resolve();
      const fault = this.fault ?? this.faults.get(module);
      if (fault !== undefined) throw fault;
    };
    const tags = (): ReadonlyMap<string, string> => this.#tags.get(module) ?? new Map();
    const descriptorOf = (digest: string): Descriptor => ({ digest, mediaType: 'lab', size: 1 });
    const published = this.#published;
    return {
      url: `oci://lab/${module}`,
      async resolve(reference) {
        await request(`resolve ${reference}`);
        if (published.has(reference)) return descriptorOf(reference);
        const digest = tags().get(reference);
        return digest === undefined ? undefined : descriptorOf(digest);
      },
      async manifest(digest): Promise<FetchedManifest> {
        await request(`manifest ${digest}`);
        return { descriptor: descriptorOf(digest), bytes: Buffer.from('{}') };
      },
      async *blob() {
        await request('blob');
        yield Buffer.alloc(0);
      },
      async tags() {
        await request('tags');
        return [...tags().keys()];
      },
      async referrers() {
        await request('referrers');
        return [];
      },
    };
  }
}

/** The store in memory: the content of a digest is its version. */
export class LabStore implements ContentStore {
  readonly currentDir = '/lab/current';
  readonly contents = new Map<string, StoredContent>();
  readonly linked = new Map<string, string>();

  async has(digest: string): Promise<boolean> {
    return await Promise.resolve(this.contents.has(digest));
  }

  pathOf(digest: string): string {
    return `/lab/${digest}`;
  }

  async add(content: NewContent, fill: (directory: string) => Promise<void>): Promise<void> {
    if (this.contents.has(content.digest)) return;
    await fill(this.pathOf(content.digest));
    this.contents.set(content.digest, { ...content, sizeBytes: 1, addedAtMs: 0 });
  }

  async list(): Promise<readonly StoredContent[]> {
    return await Promise.resolve([...this.contents.values()]);
  }

  async links(): Promise<ReadonlyMap<string, string>> {
    return await Promise.resolve(new Map(this.linked));
  }

  async link(entry: string, digest: string): Promise<void> {
    if (!this.contents.has(digest)) throw new Error(`a link to nothing: ${entry}`);
    const module = entry.slice(4);
    for (const other of this.linked.keys()) if (other.slice(4) === module) this.linked.delete(other);
    this.linked.set(entry, digest);
    await Promise.resolve();
  }

  async unlink(entry: string): Promise<void> {
    this.linked.delete(entry);
    await Promise.resolve();
  }

  async collect(keep: ReadonlySet<string>): Promise<readonly StoredContent[]> {
    const linked = new Set(this.linked.values());
    const gone = [...this.contents.values()].filter(({ digest }) => !keep.has(digest) && !linked.has(digest));
    for (const { digest } of gone) this.contents.delete(digest);
    return await Promise.resolve(gone);
  }
}

/** What the cluster keeps, across restarts. */
export class LabCluster {
  readonly states = new Map<string, InstallState>();
  readonly entries = new Map<string, readonly HistoryEntry[]>();
  readonly sections = new Map<string, string>();
  readonly backups = new Set<string>();
}

/** Reads what {@link LabRegistry} publishes. */
export function labArtifacts(registry: LabRegistry): DeliveryParts['artifacts'] {
  return {
    read: async (repository, { digest }, signal): Promise<ModuleArtifact> => {
      await repository.manifest(digest, signal);
      const published = registry.published(digest);
      if (published === undefined) throw new OperatorError('ARTIFACT_INVALID', `${digest} is no module`);
      return { format: 'module', digest, facts: published.facts, layers: [] };
    },
    resolveChannel: async (releases, channel, signal) => {
      const image = await releases.resolve(channel, signal);
      return image && registry.published(image.digest)?.facts.version;
    },
    verify: async (_repository, { digest }) => {
      if (registry.published(digest)?.isSigned !== true)
        throw new OperatorError('MODULE_UNVERIFIED', 'no signature');
      await Promise.resolve();
    },
    unpack: async ({ repository, artifact }, signal) => {
      for await (const _chunk of repository.blob({ ...artifact, mediaType: '', size: 0 }, signal));
    },
  };
}

/** A controller with everything around it in memory. The registry, the store and the cluster survive `restart()`. */
export class DeliveryLab {
  readonly clock = new FakeClock(Date.parse('2026-11-02T12:00:00Z'));
  readonly registry = new LabRegistry();
  readonly store = new LabStore();
  readonly cluster = new LabCluster();
  readonly events: string[] = [];
  /** Each switch, in order: `web 1.0.0`. */
  readonly switches: SwitchRequest[] = [];
  readonly removed: string[] = [];
  /** Versions, `web 1.1.0`, whose gates are not passed. */
  readonly gates = new Map<string, GateResult>();
  readonly disabled = new Set<string>();
  readonly refusals = new Map<string, SwitchOutcome>();
  /** Called within each switch. */
  onSwitch: (request: SwitchRequest) => void | Promise<void> = () => undefined;
  section: string | undefined = 'color: blue';
  delivery: Delivery;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #settings: { readonly updateParallel: number; readonly updateFailures: number };
  #specs: Parameters<Delivery['setSpecs']>[0] = { sources: [], installs: [] };

  constructor(settings = { updateParallel: 4, updateFailures: 0 }) {
    this.#settings = settings;
    this.delivery = this.#create();
  }

  #create(): Delivery {
    return new Delivery(this.#parts(), this.#settings);
  }

  #parts(): DeliveryParts {
    const { registry, cluster, store, clock } = this;
    const version = (digest: string): string => registry.published(digest)?.facts.version ?? digest;
    return {
      clock,
      log: silentLogger,
      random: () => 0.5,
      store,
      state: stateIn(cluster),
      history: historyIn(cluster),
      backup: backupIn(cluster, registry),
      openSource: async () => await Promise.resolve(accessOf(registry)),
      artifacts: labArtifacts(registry),
      modules: {
        switch: async (request) => {
          const key = `${request.module} ${version(request.digest)}`;
          await this.onSwitch(request);
          const refusal = this.refusals.get(key);
          if (refusal !== undefined) return refusal;
          await store.link(request.entry, request.digest);
          this.switches.push(request);
          return { type: 'switched' };
        },
        remove: async (entry) => {
          this.removed.push(entry);
          await store.unlink(entry);
        },
      },
      operator: {
        version: '1.3.0',
        modules: () => new Map(this.#enabledModules().map((name) => [name, undefined])),
        whyNotReady: () => undefined,
        whyDisabled: () => undefined,
        section: () => this.section,
        gate: async (_gate, module) => {
          const digest = [...store.linked].find(([entry]) => entry.slice(4) === module)?.[1] ?? '';
          return await Promise.resolve(this.gates.get(`${module} ${version(digest)}`) ?? { type: 'passed' });
        },
      },
      reports: {
        event: (module, { reason, message }: DeliveryEvent) => {
          this.events.push(`${module} ${reason}: ${message}`);
        },
        pulled: () => undefined,
        changed: () => undefined,
      },
    };
  }

  #enabledModules(): readonly string[] {
    const linked = [...this.store.linked.keys()].map((entry) => entry.slice(4));
    return linked.filter((name) => !this.disabled.has(name));
  }

  /** Applies the documents: a source `lab` with an interval of 10 minutes, and installs by name. */
  async apply(
    installs: Readonly<Record<string, Record<string, unknown>>>,
    { source = true, ...more }: { readonly source?: boolean; readonly areNewlyDefined?: boolean } = {},
  ): Promise<void> {
    this.#specs = {
      sources: source ? [parseSource({ name: 'lab', generation: 1, spec: { url: 'oci://lab' } })] : [],
      installs: Object.entries(installs).map(([name, spec]) =>
        parseInstall({
          name,
          generation: 1,
          spec: { source: 'lab', version: { channel: 'stable' }, ...spec },
        }),
      ),
      ...more,
    };
    this.delivery.setSpecs(this.#specs);
    await this.quiet();
  }

  async start(): Promise<void> {
    this.delivery.setSpecs(this.#specs);
    await this.delivery.prepare(this.#stop.signal);
    this.#running = this.delivery.run(this.#stop.signal).catch(() => undefined);
    await this.quiet();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await settle();
    await this.#running;
  }

  /** A new process on the same store and cluster. */
  async restart({ losesStore = false }: { readonly losesStore?: boolean } = {}): Promise<void> {
    await this.stop();
    if (losesStore) {
      this.store.contents.clear();
      this.store.linked.clear();
    }
    this.#stop = new AbortController();
    this.delivery = this.#create();
    await this.start();
  }

  /** Lets everything happen that is due within a second. */
  async quiet(): Promise<void> {
    await settle();
    await this.clock.advance(1_000);
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.quiet();
  }

  /** Versions that run, by module. */
  get running(): Readonly<Record<string, string>> {
    const entries = [...this.store.linked].map(([entry, digest]) => [
      entry.slice(4),
      this.registry.published(digest)?.facts.version ?? digest,
    ]);
    return Object.fromEntries(entries);
  }

  /** `REASON: message` of a module that waits. */
  pending(module: string): string | undefined {
    const pending = this.delivery.view().installs.find(({ name }) => name === module)?.pending;
    return pending && `${pending.reason}: ${pending.message}`;
  }
}

function accessOf(registry: LabRegistry): SourceAccess {
  return { repository: (module) => registry.repository(module), policy: {} };
}

function stateIn({ states }: LabCluster): StateStore {
  return {
    load: async () => await Promise.resolve(new Map(states)),
    save: async (module, state) => {
      if (state === undefined) states.delete(module);
      else states.set(module, state);
      await Promise.resolve();
    },
  };
}

function historyIn({ entries, sections }: LabCluster): DeliveryParts['history'] {
  return {
    load: () => Promise.resolve(),
    entries: (module) => entries.get(module) ?? [],
    section: (module, digest) => sections.get(`${module} ${digest}`),
    begin: async (module, entry, before) => {
      const [newest, ...older] = entries.get(module) ?? [];
      const ended = newest === undefined ? [] : [{ ...newest, ...before }, ...older];
      entries.set(module, [{ ...entry, outcome: 'running', hasValues: false }, ...ended]);
      await Promise.resolve();
    },
    keepSection: async (module, section) => {
      sections.set(`${module} ${entries.get(module)?.[0]?.digest}`, section ?? '');
      await Promise.resolve();
    },
    remove: async (module) => {
      entries.delete(module);
      await Promise.resolve();
    },
  };
}

function backupIn({ backups }: LabCluster, registry: LabRegistry): ContentBackup {
  return {
    save: async (_repository, digest) => {
      backups.add(digest);
      await Promise.resolve();
    },
    open: async (digest) => {
      const published = registry.published(digest);
      if (!backups.has(digest) || published === undefined) return await Promise.resolve(undefined);
      const copy = new LabRegistry();
      copy.push(published.module, published.facts.version, published.facts);
      return copy.repository(published.module);
    },
    collect: async (keep) => {
      for (const digest of backups) if (!keep.has(digest)) backups.delete(digest);
      await Promise.resolve();
    },
  };
}

/** A running lab in which each module has version 1.0.0 in the channel `stable`; the caller stops it. */
export async function labWith(
  installs: Readonly<Record<string, Record<string, unknown>>> = { web: {} },
  settings?: { readonly updateParallel: number; readonly updateFailures: number },
): Promise<DeliveryLab> {
  const lab = new DeliveryLab(settings);
  for (const module of Object.keys(installs)) {
    lab.registry.push(module, '1.0.0');
    lab.registry.tag(module, 'stable', labDigest(module, '1.0.0'));
  }
  await lab.start();
  await lab.apply(installs);
  return lab;
}

/** Pushes a version, to which the channel `stable` leads from now on. Returns its digest. */
export function release(lab: DeliveryLab, version: string, module = 'web'): string {
  const digest = lab.registry.push(module, version);
  lab.registry.tag(module, 'stable', digest);
  return digest;
}
