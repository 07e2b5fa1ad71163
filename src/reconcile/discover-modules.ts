import type { Logger } from '@addon-operator/base/log';
import { traced } from '@addon-operator/base/trace';
import type { Journal } from '../journal/journal.ts';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import type { HandOvers } from '../model/hand-overs.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { DirectoryMemory } from '../model/purge-guard.ts';
import type { ReleaseInCluster, Releases } from '../model/releases.ts';
import type { HookBindings, ModuleSources } from '../model/services.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleDiscovery } from '../modules/module-discovery.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleMemory } from './module-memory.ts';
import type { RefusedModules } from './refused-modules.ts';

/** The parts that a discovery reads and changes. */
export interface DiscoveryPassParts {
  readonly registry: ModuleRegistry;
  readonly log: Logger;
  readonly releases: Releases;
  readonly dynamicFlags: DynamicFlags;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  readonly sources: Pick<ModuleSources, 'discover' | 'modulesDirectories'>;
  readonly directoryMemory: DirectoryMemory;
  /** The modules that ran before the start. */
  readonly memory: Pick<ModuleMemory, 'names'>;
  readonly bindings: Pick<HookBindings, 'setSchedules'>;
  readonly journal: Pick<Journal, 'spanIn'>;
  readonly refusals: RefusedModules;
  readonly handOvers: Pick<HandOvers, 'isAway'>;
}

export type DiscoveryResult =
  /**
   * The registry has the result; `releases`: names of the releases in the cluster that this
   * operator owns.
   */
  | { readonly type: 'discovered'; readonly releases: ReadonlySet<string> }
  /** The caller does not wait for the result any more; it was dropped. */
  | { readonly type: 'superseded' }
  /** Flags or the ConfigMap changed in the meantime: the pass has to be repeated. */
  | { readonly type: 'outdated' };

/**
 * Decides which modules are enabled, from the releases in the cluster, flags, files and the
 * ConfigMap. `operator/converge-modules.ts` calls it at the begin of each converge. It takes
 * seconds, since enabled scripts run, so its input may change in the meantime: such a result is
 * reported as superseded or outdated, and is not stored.
 */
export class DiscoveryPass {
  readonly #parts: DiscoveryPassParts;

  constructor(parts: DiscoveryPassParts) {
    this.#parts = parts;
  }

  /**
   * One pass over all modules.
   *
   * @param queue the name of the queue whose task requests it
   * @param isCurrent whether the caller still waits for the result
   * @throws errors of the API client and of enabled scripts; the registry keeps the last result
   */
  async discover(queue: string, isCurrent: () => boolean, signal: AbortSignal): Promise<DiscoveryResult> {
    const { configMapContent, dynamicFlags, memory, refusals, registry } = this.#parts;
    const { modules } = registry;
    const [content, flags] = [configMapContent(), dynamicFlags.all];
    const all = await this.#parts.releases.list(signal);
    await this.#releaseKept(all, signal);
    const owned = all.filter(({ isOwned }) => isOwned);
    const releases = new Set(owned.map(({ name }) => name));
    const { started } = registry;
    // A module with lost files counts as deployed: it must be held, not forgotten.
    const isDeployed = ({ name, refusal }: Module): boolean =>
      refusal?.type === 'gone' || started.has(name) || releases.has(name);
    const deployed = new Set(modules.filter(isDeployed).map(({ name }) => name));
    registry.setDeployed(deployed, new Set([...releases, ...memory.names]));
    registry.setReleased(
      new Set(owned.filter(({ status }) => status === 'deployed').map(({ name }) => name)),
    );
    const discovery = await this.#traced(queue, signal);
    if (releases.size === 0 && started.size === 0) await this.#rememberDirectories(signal);
    // From here on without a pause: a change after these checks finds the result in the registry.
    if (!isCurrent()) return { type: 'superseded' };
    // Later, such changes restart the converge; before the first discovery they do not, so it is
    // checked here.
    if (content !== configMapContent() || flags !== dynamicFlags.all) return { type: 'outdated' };
    this.#logDecisions(discovery);
    registry.setDiscovery(discovery);
    refusals.report();
    this.#stopSchedulesOfDisabled();
    return { type: 'discovered', releases };
  }

  /**
   * Writes the first record of the modules directories before any release exists: a daemon that is
   * killed before its first clean-up leaves the record to the next one.
   */
  async #rememberDirectories(signal: AbortSignal): Promise<void> {
    const { directoryMemory, sources } = this.#parts;
    const directories = sources.modulesDirectories();
    if (directories.every(({ modules }) => modules.length === 0)) return;
    if ((await directoryMemory.read(signal)) === undefined) await directoryMemory.write(directories, signal);
  }

  async #traced(queue: string, signal: AbortSignal): Promise<ModuleDiscovery> {
    const { registry, sources, journal } = this.#parts;
    const { modules, before } = registry;
    const attributes = { 'addon_operator.modules': modules.length };
    return await traced(journal.spanIn(queue), 'discover', attributes, async (span) => {
      const discovery = await sources.discover(modules, before, signal);
      span.set({ 'addon_operator.modules.enabled': discovery.enabled.length });
      return discovery;
    });
  }

  /**
   * Removes the annotation that keeps a release from those whose modules have the default deletion
   * policy again.
   */
  async #releaseKept(releases: readonly ReleaseInCluster[], signal: AbortSignal): Promise<void> {
    const { registry, handOvers } = this.#parts;
    const kept = new Set<string>(releases.filter(({ isKept }) => isKept === true).map(({ name }) => name));
    for (const { name, manifest, refusal } of registry.modules) {
      if (refusal !== undefined || manifest.deletionPolicy !== 'delete' || !kept.has(name)) continue;
      if (handOvers.isAway(name)) continue;
      await this.#parts.releases.keep(name, false, signal);
      const tracked = registry.tracked.get(name);
      if (tracked !== undefined) tracked.release.noteKept(false);
    }
  }

  #logDecisions(discovery: ModuleDiscovery): void {
    const { log, registry } = this.#parts;
    log.info({ modules: discovery.enabled }, 'Enabled modules');
    for (const { name: module } of registry.modules) {
      const decision = discovery.decisions.get(module);
      if (decision === undefined) continue;
      const { isEnabled, source, reason } = decision;
      if (source === 'deletion-policy') log.warn({ module, reason }, 'Module is protected and stays enabled');
      else if (source === 'requirement')
        log.warn({ module, reason }, 'Module is not enabled because of its requirements');
      else if (!isEnabled && registry.isEnabled(module))
        log.info({ module, source, reason }, 'Module is disabled');
    }
  }

  // Their ModuleDelete may wait behind other tasks; until then ticks must not queue runs.
  #stopSchedulesOfDisabled(): void {
    const { bindings, registry } = this.#parts;
    for (const [name, tracked] of registry.tracked) {
      if (registry.isEnabled(name)) continue;
      for (const runtime of tracked.hooks ?? []) bindings.setSchedules(runtime, false);
    }
  }
}
