import type { Clock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import type { Redactor } from '@addon-operator/masking/redactor';
import { createExecution, createRunParts } from '../hook-runs/execution-parts.ts';
import {
  createHookLoader,
  createRuntime,
  type HookLoaderDeps,
  type HookRuntimeDeps,
} from '../hook-runs/hook-parts.ts';
import type { HookConnections, HookTools } from '../hook-runs/start-hook-tools.ts';
import { EventBacklog } from '../hooks/event-backlog.ts';
import type { Hook } from '../hooks/hook.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import { Journal } from '../journal/journal.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { createFlags } from '../model/module-flags.ts';
import { ModuleRegistry } from '../model/module-registry.ts';
import { type FoundModules, findModules } from '../modules/find-modules.ts';
import type { ConfigMapSettings, InstanceSettings } from '../settings/config-map-settings.ts';
import type { DebugSettings } from '../settings/debug-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { createConfigMap, takeConfig } from '../values/operator-config-map.ts';
import { createSecrets } from '../values/secrets/secret-parts.ts';
import { ValuesStore } from '../values/values-store.ts';
import { chooseHook, findHookFile, type HookPlace, ownerOf, splitAddress } from './hook-place.ts';
import type { LoadedHook } from './loaded-hook.ts';
import type { HookListener, LoneHook } from './lone-hook.ts';
import { ObjectWriter } from './object-writer.ts';

export interface LoneHookParts {
  readonly settings: InstanceSettings &
    ConfigMapSettings &
    HookRunSettings &
    Pick<DirectorySettings, 'unnumberedModulesOrder' | 'globalHooksDir' | 'allowsLinksOutside'> &
    Pick<ModuleSettings, 'appliedModuleExtenders'> &
    Pick<DebugSettings, 'keepsTmpFiles'>;
  readonly host: HookLoaderDeps['host'] & HookRuntimeDeps['host'] & { readonly log: RootLogger };
  readonly cluster: {
    readonly main: KubeClient;
    readonly patcher: KubeClient;
    readonly discovery: Discovery;
  };
  readonly tools: Pick<HookTools, 'tmpDir' | 'runner' | 'inProcess' | 'hookEnv' | 'jq'>;
  readonly connections: HookConnections;
  readonly file: LoneHookFile;
  readonly metrics: OperatorMetrics;
  readonly redactor: Redactor;
  readonly stop: AbortSignal;
  /** Everything that is started is added here. */
  readonly running: AsyncDisposableStack;
  /** Of the rate limit of the hook; default that of the host. */
  readonly runClock?: Clock | undefined;
  /** Writes objects that are not written by the hook; default: as the operator does. */
  readonly author?: { readonly kube: KubeClient; readonly discovery: Discovery } | undefined;
}

/** The hook, and what comes between it and the operator. */
export interface LoneHookFile {
  /** Of its file, absolute; of a file with several hooks `FILE:NAME:INDEX`. */
  readonly path: string;
  readonly place: HookPlace;
  readonly tap: (runs: HookRuns) => HookRuns;
  /** The hook and its modules, if they were loaded before. */
  readonly loaded?: LoadedHook | undefined;
}

/** No release is read here, so none has to be forgotten. */
const NO_RELEASES = { forgetReads: (): void => undefined };

/**
 * Loads one hook and what it sees: its values, snapshots, runs and outputs are handled by the code that the operator has for
 * them. Nothing is watched and nothing is run yet.
 *
 * @throws OperatorError when the hook, its configuration, its module or the ConfigMap cannot be used
 */
export async function createLoneHook(parts: LoneHookParts): Promise<LoneHook> {
  const { settings, host, cluster, connections, file, metrics, redactor, stop, running } = parts;
  const { clock, log } = host;
  const { reflectors } = connections;
  const logsEvents = (): boolean => false;
  // What an operator remembers of the ConfigMap is its own.
  const isReadOnly = true;
  const kube = cluster.main;
  const configMap = createConfigMap({ settings, host, kube, reflectors, logsEvents, isReadOnly });
  await configMap.load(stop);
  const found = file.loaded?.found ?? (await findOwnModules(settings, file.place));
  const owner = await readOwner(parts, found, configMap);
  const { registry, values, dynamicFlags, followSecrets, takeValues } = owner;
  const hookMetrics = new HookMetrics({ log, redact: (text) => text, onSeriesDropped: () => undefined });
  const { hookRuns, objectPatcher } = createHookRuns(parts);
  const execution = createExecution(
    {
      settings,
      host,
      metrics,
      hookMetrics,
      configMap,
      values,
      dynamicFlags,
      followSecrets,
      helm: NO_RELEASES,
      hookRuns,
      objectPatcher,
    },
    { registry, journal: new Journal({ clock }) },
  );
  const hook = file.loaded?.hook ?? (await loadLoneHook(parts, found));
  const listeners = new Set<HookListener>();
  const runtime = createListenedRuntime(parts, hook, listeners);
  running.defer(() => runtime.stop());
  const reloadConfig = async (): Promise<void> => {
    await configMap.load(stop);
    await takeValues();
  };
  const objects = createObjectWriter(parts);
  const loaded = { hook, found };
  return {
    runtime,
    execution,
    registry,
    values,
    configMap,
    reloadConfig,
    listeners,
    objects,
    redactor,
    loaded,
  };
}

function createHookRuns({
  settings,
  host,
  cluster,
  tools,
  connections,
  file,
  metrics,
  running,
}: LoneHookParts): ReturnType<typeof createRunParts> {
  const { tmpDir, runner, inProcess, hookEnv, jq } = tools;
  const { http } = connections;
  const { tap } = file;
  return createRunParts({
    settings,
    host,
    cluster,
    tmpDir,
    runner,
    inProcess,
    hookEnv,
    jq,
    http,
    tap,
    metrics,
    running,
  });
}

function createObjectWriter({ host, cluster, tools, author }: LoneHookParts): ObjectWriter {
  const { kube, discovery } = author ?? { kube: cluster.main, discovery: cluster.discovery };
  const patcher = new ObjectPatcher({
    kube,
    find: (apiVersion, kind, signal) => discovery.find(apiVersion, kind, signal),
    jq: tools.jq,
    clock: host.clock,
    random: host.random,
    log: host.log,
  });
  return new ObjectWriter({ patcher, discovery, clock: host.clock });
}

async function loadLoneHook(parts: LoneHookParts, { modules }: FoundModules): Promise<Hook> {
  const { file: wanted, host, tools, connections, stop } = parts;
  const { path, place } = wanted;
  const address = splitAddress(path);
  const module = place.type === 'module' ? modules.find(({ name }) => name === place.module) : undefined;
  const file = await findHookFile(address.file, place, module?.manifest.batchHooks ?? []);
  const { runner, inProcess, hookEnv, jq } = tools;
  const { http } = connections;
  const loader = createHookLoader({ host, runner, inProcess, http, hookEnv, jq }, stop);
  return chooseHook(await loader.loadFile(file, ownerOf(place), stop), address);
}

async function findOwnModules(settings: LoneHookParts['settings'], place: HookPlace): Promise<FoundModules> {
  return await findModules({
    dirs: place.type === 'module' ? [place.modulesDir] : [],
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: false,
    globalHooksDir: place.type === 'global' ? place.globalHooksDir : settings.globalHooksDir,
    allowsLinksOutside: settings.allowsLinksOutside,
    // Most of what it warns of is about other modules.
    log: silentLogger,
  });
}

/** The values that the hook sees, and the modules it knows of: all that flags do not disable, and its own. */
async function readOwner(parts: LoneHookParts, found: FoundModules, configMap: ConfigMapStore) {
  const { settings, host, connections, file, redactor, stop, running } = parts;
  const { place } = file;
  const { reflectors } = connections;
  const secrets = createSecrets({ settings, host, reflectors, redactor, stop, running });
  const values = new ValuesStore(found.staticValues, secrets.values);
  const { dynamicFlags, isFlaggedOff } = createFlags({ settings, configMap, files: { found } });
  const isEnabled = (module: (typeof found.modules)[number]['name']): boolean =>
    (place.type === 'module' && place.module === module) || !isFlaggedOff(module);
  const followSecrets = (): Promise<void> => secrets.follow(values, configMap.content);
  const takeValues = async (): Promise<void> => {
    takeConfig(configMap, values, isEnabled);
    await followSecrets();
  };
  await takeValues();
  const registry = new ModuleRegistry(found.modules, isFlaggedOff);
  const enabled = found.modules.map(({ name }) => name).filter(isEnabled);
  registry.setDiscovery({ enabled, decisions: new Map() });
  return { registry, values, dynamicFlags, followSecrets, takeValues };
}

function createListenedRuntime(
  parts: LoneHookParts,
  hook: HookRuntime['hook'],
  listeners: ReadonlySet<HookListener>,
): HookRuntime {
  const backlog = new EventBacklog({
    limitBytes: parts.settings.hookBacklogMaxBytes,
    onLimit: () => undefined,
    onDrop: () => undefined,
  });
  const { host, runClock: clock = host.clock, cluster, tools, connections, metrics, stop } = parts;
  const { random, log } = host;
  const { jq } = tools;
  const { reflectors } = connections;
  const deps = { host: { clock, random, log }, jq, cluster, reflectors, metrics, backlog, stop };
  return createRuntime(deps, hook, {
    onKubernetesEvent: (_runtime, binding, event) => {
      for (const listener of listeners) listener(binding, event);
    },
  });
}
