import type { Clock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import type { Redactor } from '@addon-operator/base/redactor';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import { EventBacklog } from '../hooks/event-backlog.ts';
import type { Hook } from '../hooks/hook.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import { Journal } from '../journal/journal.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import { findModules } from '../modules/find-modules.ts';
import { createExecution, createRunParts } from '../operator/execution-parts.ts';
import { createHookLoader, createRuntime, type HookPartsDeps } from '../operator/hook-parts.ts';
import type { HookRuntime } from '../operator/hook-runtime.ts';
import { createFlags } from '../operator/module-flags.ts';
import { ModuleRegistry } from '../operator/module-registry.ts';
import type { Settings } from '../settings.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { createConfigMap, takeConfig } from '../values/operator-config-map.ts';
import { createSecrets } from '../values/secrets/secret-parts.ts';
import { ValuesStore } from '../values/values-store.ts';
import { findHookFile, type HookPlace, ownerOf } from './hook-place.ts';
import type { HookListener, LoneHook } from './lone-hook.ts';
import { ObjectWriter } from './object-writer.ts';

export interface LoneHookParts extends HookPartsDeps {
  readonly settings: Settings;
  readonly host: HookPartsDeps['host'] & { readonly log: RootLogger };
  readonly cluster: {
    readonly main: KubeClient;
    readonly patcher: KubeClient;
    readonly discovery: Discovery;
  };
  readonly tmpDir: string;
  /** Absolute. */
  readonly path: string;
  readonly place: HookPlace;
  readonly tap: (runs: HookRuns) => HookRuns;
  readonly redactor: Redactor;
  /** What is started is entered here. */
  readonly running: AsyncDisposableStack;
  /** Of the rate limit of the hook; default that of the host. */
  readonly runClock?: Clock;
  /** The hook, if it was loaded before. */
  readonly loaded?: Hook;
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
  const { settings, host, cluster, reflectors, redactor, stop, running } = parts;
  const { clock, log } = host;
  const logsEvents = (): boolean => false;
  const configMap = createConfigMap({ settings, host, kube: cluster.main, reflectors, logsEvents });
  await configMap.load(stop);
  const { registry, ...owned } = await readOwner(parts, configMap);
  const hookMetrics = new HookMetrics({ log, redact: (text) => text, onSeriesDropped: () => undefined });
  const execution = createExecution(
    { ...parts, ...owned, configMap, hookMetrics, helm: NO_RELEASES, ...createRunParts(parts) },
    { registry, journal: new Journal({ clock }) },
  );
  const hook = parts.loaded ?? (await loadLoneHook(parts));
  const listeners = new Set<HookListener>();
  const runtime = createListenedRuntime(parts, hook, listeners);
  running.defer(() => runtime.stop());
  const patcher = new ObjectPatcher({
    kube: cluster.main,
    find: (apiVersion, kind, signal) => cluster.discovery.find(apiVersion, kind, signal),
    ...parts,
    ...host,
  });
  const objects = new ObjectWriter({ patcher, discovery: cluster.discovery, clock });
  return { runtime, execution, registry, values: owned.values, configMap, listeners, objects, redactor };
}

async function loadLoneHook(parts: LoneHookParts): Promise<Hook> {
  const { path, place, stop } = parts;
  return await createHookLoader(parts, stop).loadHook(await findHookFile(path, place), ownerOf(place), stop);
}

/** The values that the hook sees, and the modules it knows of: all that flags do not disable, and its own. */
async function readOwner(parts: LoneHookParts, configMap: ConfigMapStore) {
  const { settings, place } = parts;
  const found = await findModules({
    dirs: place.type === 'module' ? [place.modulesDir] : [],
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: false,
    globalHooksDir: place.type === 'global' ? place.globalHooksDir : settings.globalHooksDir,
    allowsLinksOutside: settings.allowsLinksOutside,
    // Most of what it warns of is about other modules.
    log: silentLogger,
  });
  const secrets = createSecrets(parts);
  const values = new ValuesStore(found.staticValues, secrets.values);
  const { dynamicFlags, isFlaggedOff } = createFlags({ settings, configMap, files: { found } });
  const isEnabled = (module: (typeof found.modules)[number]['name']): boolean =>
    (place.type === 'module' && place.module === module) || !isFlaggedOff(module);
  takeConfig(configMap, values, isEnabled);
  const followSecrets = (): Promise<void> => secrets.follow(values, configMap.content);
  await followSecrets();
  const registry = new ModuleRegistry(found.modules, isFlaggedOff);
  const enabled = found.modules.map(({ name }) => name).filter(isEnabled);
  registry.setDiscovery({ enabled, decisions: new Map() });
  return { registry, values, dynamicFlags, followSecrets };
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
  const { host, runClock = host.clock } = parts;
  return createRuntime({ ...parts, host: { ...host, clock: runClock }, backlog }, hook, {
    onKubernetesEvent: (_runtime, binding, event) => {
      for (const listener of listeners) listener(binding, event);
    },
  });
}
