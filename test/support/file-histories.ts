import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { QUIET_MS } from '../../src/operator/watch-files.ts';
import { LOOK_INTERVAL_MS } from '../../src/reconcile/directory-looks.ts';
import type { FaultProxy } from './fault-proxy.ts';
import {
  CHART_DAMAGES,
  LINK_DAMAGES,
  MODULE_DAMAGES,
  type ModuleDamage,
  type Repair,
  TREE_DAMAGES,
  type TreeDamage,
} from './file-damage.ts';
import type { Step, WorldShape } from './file-steps.ts';
import type { World } from './world.ts';
import { runInWorld } from './world-command.ts';
import { configMapChart, type FileTree, writeTree } from './world-files.ts';

interface ModuleModel {
  readonly name: string;
  readonly shape: WorldShape['modules'][number];
  readonly tree: number;
  isThere: boolean;
  flag: boolean;
  script: boolean;
  /** The flag in the ConfigMap; undefined where it says nothing. */
  config: boolean | undefined;
  damage: { readonly kind: ModuleDamage; readonly repair: Repair } | undefined;
  /** It was ready, and nobody has decided against it since: its release must stay. */
  isProtected: boolean;
  /** The same of one without a release. */
  isKnown: boolean;
  /** Its files were read, or it is looked for: it needs no restart. */
  isFollowed: boolean;
}

const TREES = ['modules', 'more'] as const;
const OTHER_TREE = 'other';
const WAIT = { timeout: 30_000, interval: 10 };
/** In so many looks everything is noticed that can be. */
const LOOKS = 3;
/** More than a start sends. */
const MANY_CALLS = 1_000;

function check(actual: unknown): { toEqual(expected: unknown): void } {
  return { toEqual: (expected) => expect(actual).toEqual(expected) };
}

/** A world whose files are damaged and repaired, and what a person knows about it: who decided what. */
export class FileHistory {
  readonly #shape: WorldShape;
  readonly #world: World;
  readonly #proxy: FaultProxy;
  readonly #modules: readonly ModuleModel[];
  readonly #trees: { damage: { readonly kind: TreeDamage; readonly repair: Repair } | undefined }[];
  /** What was done, for a failure. */
  readonly told: string[] = [];
  #isSwapped = false;
  #isRunning = false;

  constructor(shape: WorldShape, world: World, proxy: FaultProxy) {
    this.#shape = shape;
    this.#world = world;
    this.#proxy = proxy;
    this.#trees = Array.from({ length: shape.trees }, () => ({ damage: undefined }));
    this.#modules = shape.modules.map((of, index) => ({
      name: `m${index}`,
      shape: of,
      tree: of.tree % shape.trees,
      isThere: true,
      flag: true,
      script: true,
      config: undefined,
      damage: undefined,
      isProtected: false,
      isKnown: false,
      isFollowed: true,
    }));
  }

  /** The modules directories as they are configured now. */
  get directories(): string {
    const names = this.#isSwapped ? [OTHER_TREE] : TREES.slice(0, this.#shape.trees);
    return names.map((name) => join(this.#world.directory, name)).join(':');
  }

  /** Writes the files and starts the daemon. */
  async begin(): Promise<void> {
    await writeTree(join(this.#world.directory, OTHER_TREE), {});
    for (const [tree] of this.#trees.entries()) await writeTree(this.#treePath(tree), this.#commonFile(tree));
    for (const module of this.#modules) await this.#writeModule(module);
    await this.#writeConfig();
    await this.#start();
    await this.#settle();
  }

  async take({ change: what, isDown, killAfter, settles }: Step): Promise<void> {
    this.told.push(JSON.stringify({ ...what, isDown, killAfter, settles }));
    // Without a watch on files what they decide is read at a start.
    const isRead = what.do === 'decide' && what.by !== 'config' && !this.#shape.watchesFiles;
    const isStopped = (isDown || isRead || what.do === 'swap trees') && what.do !== 'confirm';
    if (isStopped) await this.#stop();
    await this.#make(what);
    if (isStopped) await this.#start(killAfter ?? undefined);
    else if (killAfter !== null) await this.#killAfter(killAfter);
    if (!this.#isRunning) await this.#start();
    if (settles) await this.#settle();
  }

  /** Repairs everything: without a restart all modules come to what was decided. */
  async end(): Promise<void> {
    this.told.push('end');
    if (this.#isSwapped) {
      await this.#stop();
      this.#isSwapped = false;
    }
    await this.#repairAll();
    // What nobody knew of is read at a start.
    if (this.#modules.some((module) => isWanted(module) && !module.isFollowed)) await this.#stop();
    if (!this.#isRunning) await this.#start();
    await this.#settle();
    const { purge } = this.#world.daemon.operator.converge;
    // Releases of modules whose entries were removed may wait for a decision, if they are many.
    if (typeof purge !== 'string') {
      const kept = this.#modules.filter(({ isThere }) => isThere).map(({ name }) => name);
      check(purge.releases.filter((name) => kept.includes(name))).toEqual([]);
      await runInWorld(this.#world, 'module', 'confirm-purge');
    }
    await this.#until(async () => {
      const deployed = await this.#deployed();
      for (const module of this.#modules)
        check({ [module.name]: deployed.has(module.name) }).toEqual({
          [module.name]: isWanted(module) && module.shape.hasChart,
        });
    });
  }

  /** @throws when a release is gone that nobody decided against */
  async check(): Promise<void> {
    const deployed = await this.#deployed();
    const missing = this.#modules.filter(({ isProtected, name }) => isProtected && !deployed.has(name));
    if (missing.length > 0)
      throw new Error(`removed without a decision: ${missing.map(({ name }) => name).join(', ')}`);
  }

  async #make(what: Step['change']): Promise<void> {
    switch (what.do) {
      case 'damage':
        return await this.#damage(this.#module(what.module), what.damage);
      case 'damage tree':
        return await this.#damageTree(what.tree % this.#shape.trees, what.damage);
      case 'swap trees':
        this.#isSwapped = !this.#isSwapped;
        return;
      case 'repair':
        return await this.#repair(this.#module(what.module));
      case 'repair all':
        return await this.#repairAll();
      case 'decide':
        return await this.#decide(this.#module(what.module), what.by);
      case 'confirm':
        return await this.#confirm(this.#module(what.module));
      case 'nothing':
    }
  }

  async #damage(module: ModuleModel, kind: ModuleDamage): Promise<void> {
    const { isLink, hasChart } = module.shape;
    if (!module.isThere || !this.#isSound(module)) return;
    if (kind in LINK_DAMAGES && !isLink) return;
    if (kind in CHART_DAMAGES && !hasChart) return;
    const place = { entry: this.#entry(module), directory: this.#directory(module) };
    module.damage = { kind, repair: await MODULE_DAMAGES[kind](place) };
  }

  async #damageTree(tree: number, kind: TreeDamage): Promise<void> {
    const of = this.#trees[tree];
    if (of === undefined || of.damage !== undefined) return;
    of.damage = { kind, repair: await TREE_DAMAGES[kind](this.#treePath(tree)) };
  }

  async #repair(module: ModuleModel): Promise<void> {
    if (this.#trees[module.tree]?.damage !== undefined) return;
    await module.damage?.repair();
    module.damage = undefined;
  }

  async #repairAll(): Promise<void> {
    for (const tree of this.#trees) {
      await tree.damage?.repair();
      tree.damage = undefined;
    }
    for (const module of this.#modules) await this.#repair(module);
  }

  /** Turns what one source says about a module round. Files that are damaged are not edited as well: that would be a new version. */
  async #decide(module: ModuleModel, by: 'flag' | 'script' | 'config' | 'entry'): Promise<void> {
    if (by === 'config') {
      module.config = module.config === undefined ? !module.flag : undefined;
      await this.#writeConfig();
    } else if (!this.#isSound(module) || this.#isSwapped) return;
    else if (by === 'entry') {
      const others = this.#modules.filter(({ tree, isThere }) => isThere && tree === module.tree);
      // The last one looks like a volume that is gone.
      if (module.isThere && others.length === 1) return;
      module.isThere = !module.isThere;
      if (module.isThere) await this.#writeModule(module);
      else await rm(this.#entry(module), { recursive: true });
    } else {
      if (by === 'flag') module.flag = !module.flag;
      else module.script = !module.script;
      if (module.shape.flagIn === 'config') await this.#writeConfig();
      await writeTree(this.#treePath(module.tree), this.#commonFile(module.tree));
      if (module.isThere) await this.#writeModule(module);
    }
    if (!isWanted(module)) this.#forget(module);
  }

  /** What is missing is missing on purpose: it is written anew, as a part of another version. */
  async #confirm(module: ModuleModel): Promise<void> {
    if (module.damage?.kind !== 'no values.yaml' || !this.#isRunning || !this.#isSound(module, true)) return;
    const { exitCode } = await runInWorld(this.#world, 'module', 'confirm-files', module.name);
    if (exitCode === 0) this.#forget(module);
  }

  #forget(module: ModuleModel): void {
    module.isProtected = false;
    module.isKnown = false;
  }

  /** Whether neither its files nor its modules directory are damaged. */
  #isSound({ tree, damage }: ModuleModel, ignoresOwn = false): boolean {
    return this.#trees[tree]?.damage === undefined && (ignoresOwn || damage === undefined);
  }

  async #start(killAfter?: number): Promise<void> {
    for (const module of this.#modules) {
      const isRead = module.isThere && this.#isSound(module) && !this.#isSwapped;
      module.isFollowed = this.#shape.watchesFiles || module.isKnown || isRead;
    }
    const kill = new AbortController();
    const started = this.#world.start(kill.signal);
    started.catch(() => undefined);
    const isUsable = this.#isSwapped || this.#trees.every(({ damage }) => !isUnusable(damage?.kind));
    // Where files are watched, a start without a modules directory waits for it.
    if (killAfter !== undefined || !isUsable) {
      await this.#untilCalls(killAfter ?? MANY_CALLS);
      await this.#proxy.disconnect();
      kill.abort();
      await started.catch(() => undefined);
      await this.#world.stop();
      await this.#proxy.connect();
      return;
    }
    await started;
    this.#isRunning = true;
    const { converge } = this.#world.daemon.operator;
    await this.#until(() => Promise.resolve(check(converge.first).toEqual('done')));
  }

  async #stop(): Promise<void> {
    this.#isRunning = false;
    await this.#world.stop();
  }

  /** Ends the daemon while requests fail: nothing that it wanted to write is written. */
  async #killAfter(calls: number): Promise<void> {
    if (!this.#isRunning) return;
    await this.#untilCalls(calls);
    await this.#proxy.disconnect();
    await this.#stop();
    await this.#proxy.connect();
  }

  /** Waits for so many requests, as long as there are any. */
  async #untilCalls(count: number): Promise<void> {
    const { calls } = this.#proxy;
    const wanted = calls.length + count;
    for (let quiet = 0, last = calls.length; calls.length < wanted && quiet < 20; quiet += 1) {
      this.#look();
      await setTimeout(5);
      if (calls.length !== last) quiet = 0;
      last = calls.length;
    }
  }

  #look(): void {
    this.#world.clock.wakeSleeps(LOOK_INTERVAL_MS);
    this.#world.clock.wakeSleeps(QUIET_MS);
  }

  /** Waits until everything is as a person expects it; then nothing else follows. */
  async #settle(): Promise<void> {
    await this.check();
    if (!this.#isRunning) return;
    await this.#until(() => this.#expectStatuses());
    for (let look = 0; look < LOOKS; look += 1) {
      this.#look();
      await this.#until(() => this.#expectStatuses());
    }
    for (const module of this.#modules.filter((each) => this.#isReady(each))) {
      module.isProtected = module.shape.hasChart;
      module.isKnown = true;
    }
    await this.check();
  }

  async #until(condition: () => Promise<void>): Promise<void> {
    await vi.waitFor(async () => {
      this.#look();
      await condition();
    }, WAIT);
    await this.check();
  }

  async #expectStatuses(): Promise<void> {
    const { stdout } = await runInWorld(this.#world, 'module', 'list', '--all', '-o', 'json');
    const { modules } = JSON.parse(stdout) as {
      readonly modules: readonly { readonly module: string; readonly status: string }[];
    };
    const statuses = new Map(modules.map(({ module, status }) => [module, status]));
    const expected = this.#modules.flatMap((module) => {
      const status = this.#expected(module);
      return status === undefined ? [] : [[module.name, status]];
    });
    check(Object.fromEntries(expected.map(([name = '']) => [name, statuses.get(name)]))).toEqual(
      Object.fromEntries(expected),
    );
    const { main } = this.#world.daemon.operator.router;
    check(main.entries.length).toEqual(0);
  }

  /** Undefined where several statuses are right. */
  #expected(module: ModuleModel): string | undefined {
    if (this.#isReady(module)) return 'ready';
    return module.isProtected ? 'held' : undefined;
  }

  #isReady(module: ModuleModel): boolean {
    return isWanted(module) && module.isFollowed && this.#isSound(module) && !this.#isSwapped;
  }

  /** Modules whose release and object are in the cluster. */
  async #deployed(): Promise<ReadonlySet<string>> {
    const path = `${this.#world.path('secrets')}?labelSelector=owner%3Dhelm`;
    const { items } = (await this.#world.expect({ path })) as {
      readonly items: readonly { readonly metadata: { readonly labels: Readonly<Record<string, string>> } }[];
    };
    const released = new Set(items.map(({ metadata }) => metadata.labels['name'] ?? ''));
    const deployed = new Set<string>();
    for (const { name } of this.#modules)
      if (released.has(name) && (await this.#world.get('configmaps', name)) !== undefined) deployed.add(name);
    return deployed;
  }

  #module(index: number): ModuleModel {
    const module = this.#modules[index % this.#modules.length];
    if (module === undefined) throw new Error('a world has at least one module');
    return module;
  }

  #treePath(tree: number): string {
    return join(this.#world.directory, TREES[tree] ?? '');
  }

  #entry({ tree, name }: ModuleModel): string {
    return join(this.#treePath(tree), `001-${name}`);
  }

  #directory(module: ModuleModel): string {
    return module.shape.isLink ? join(this.#world.directory, 'store', module.name) : this.#entry(module);
  }

  #commonFile(tree: number): FileTree {
    const flags = this.#modules
      .filter((module) => module.tree === tree && module.shape.flagIn === 'common')
      .map(({ name, flag }) => `${name}Enabled: ${flag}\n`);
    return { 'values.yaml': `global: {tree: ${tree}}\n${flags.join('')}` };
  }

  async #writeModule(module: ModuleModel): Promise<void> {
    const { name, shape, flag, script } = module;
    const own = shape.flagIn === 'own' ? `${name}Enabled: ${flag}\n` : '';
    const files = {
      'values.yaml': `${name}: {size: 1}\n${own}`,
      enabled: `#!/bin/sh\necho ${script} > "$MODULE_ENABLED_RESULT"\n`,
      ...(shape.hasChart && configMapChart(name, name)),
    };
    const directory = this.#directory(module);
    await writeTree(directory, files);
    if (!shape.isLink) return;
    const entry = { link: `../store/${name}` };
    await rm(this.#entry(module), { force: true });
    await writeTree(this.#treePath(module.tree), { [`001-${name}`]: entry });
  }

  async #writeConfig(): Promise<void> {
    const flags = this.#modules.flatMap(({ name, config, flag, shape }) => {
      const value = config ?? (shape.flagIn === 'config' ? flag : undefined);
      return value === undefined ? [] : [[`${name}Enabled`, String(value)]];
    });
    await this.#world.putConfig({ global: 'any: true\n', ...Object.fromEntries(flags) });
  }
}

function isWanted({ isThere, flag, script, config }: ModuleModel): boolean {
  return isThere && script && (config ?? flag);
}

/** Whether a daemon does not start with such a modules directory. */
function isUnusable(damage: TreeDamage | undefined): boolean {
  return damage === 'not there' || damage === 'a file';
}
