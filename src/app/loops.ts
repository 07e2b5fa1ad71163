/**
 * Wiring: starts what goes on by itself, such as watches of the ConfigMap and schedules, and logs a loop that ends before the
 * daemon stops. The loops are tested where they are defined, the whole in test/lifecycle.
 */
import { every } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import { onConfigChange } from '../operator/config-changes.ts';
import { DirectoryLooks, LOOK_INTERVAL_MS, runLooks } from '../reconcile/directory-looks.ts';
import { ModuleRescan } from '../reconcile/module-rescan.ts';
import { handOverActions } from '../requests/hand-over-tasks.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { BuiltOperator } from './build-options.ts';
import { freeMemory } from './free-memory.ts';
import type { DaemonHost } from './host.ts';
import type { StartedDelivery } from './start-delivery.ts';

// Milliseconds. The live tick shows that the process runs; the check counts for as long as the ConfigMap is refused.
const LIVE_TICK_MS = 10_000;
const CONFIG_CHECK_MS = 5_000;

export interface LoopParts {
  readonly settings: Pick<DirectorySettings, 'modulesRescanMs'> & Pick<DaemonSettings, 'watchesFiles'>;
  readonly built: BuiltOperator;
  readonly configMap: ConfigMapStore;
  /** Updated after changes by these loops. */
  readonly objects: Pick<ModuleObjects, 'changed'> | undefined;
  /** Modules from sources; undefined without a module store. */
  readonly delivery: StartedDelivery | undefined;
  /** Sends notices about modules; undefined without receivers. */
  readonly notifying: ((stop: AbortSignal) => Promise<void>) | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/**
 * Starts the loops that run until the daemon stops: watches of the ConfigMap and of pauses,
 * schedules, checks of directories, hand-overs, metrics. Each of them queues tasks or updates
 * records; a loop that ends early is logged as an error.
 */
export function startLoops(host: DaemonHost, parts: LoopParts): void {
  const { settings, built, configMap, objects, delivery, notifying, stop, running } = parts;
  const { model, queueing, telemetry, hooks, modules, reconcile, followed } = built;
  const { registry, converge, pauses } = model;
  const { queues, router, traces } = queueing;
  const { log, metrics, journal } = telemetry;
  const { sources, records, releases, store } = modules;
  const { values } = built.configuration;
  const { memory, crds } = records;
  const pausing = { registry, converge, router, log, queues, releases, crds, pauses };
  const handingOver = { ...pausing, removal: reconcile.removal };
  const showLife = (): void => {
    metrics.liveTick();
    hooks.execution.running.warnOfLong();
  };
  const checkConfig = (): void => {
    if (configMap.state.type !== 'valid' || converge.isConfigRefused) metrics.configValuesError();
  };
  const delivered = delivery?.delivery;
  const looks = new DirectoryLooks({ registry, converge, router, sources, memory, store, delivered });
  const { updates } = model;
  const { clock } = host;
  const rescan = new ModuleRescan({ registry, router, sources, updates, values, store, delivered, clock });
  const loops = [
    configMap.watch((change) => {
      onConfigChange({ registry, converge, router, log, traces, journal }, change);
      objects?.changed();
    }, stop),
    followed.schedules.run(stop),
    followed.pauses.watch(() => {
      onPausesChange(pausing);
      objects?.changed();
    }, stop),
    followed.pauses.follow(stop),
    runLooks(() => looks.look(), LOOK_INTERVAL_MS, host, stop),
    // A watch on files notices the same, and says what each saved file leads to.
    ...(settings.modulesRescanMs > 0 && !settings.watchesFiles
      ? [runLooks(() => rescan.rescan(), settings.modulesRescanMs, host, stop)]
      : []),
    followed.handOvers.run(handOverActions(handingOver, followed.pauses), stop),
    ...(delivery === undefined ? [] : [delivery.run(stop)]),
    ...(notifying === undefined ? [] : [notifying(stop)]),
    every(host.clock, LIVE_TICK_MS, showLife, stop),
    every(host.clock, CONFIG_CHECK_MS, checkConfig, stop),
  ];
  endWith(host, loops, { stop, running });
}

/** Reduces the memory of the process while it is idle; a standby replica is idle for days. */
export function startFreeingMemory(host: Pick<DaemonHost, 'clock' | 'log' | 'memory'>, end: LoopEnd): void {
  if (host.memory !== undefined) endWith(host, [freeMemory(host.clock, host.memory, end.stop)], end);
}

type LoopEnd = Pick<LoopParts, 'stop' | 'running'>;

/** Logs loops that end early, and lets the stop wait for all of them. */
function endWith(
  { log }: Pick<DaemonHost, 'log'>,
  loops: readonly Promise<void>[],
  { stop, running }: LoopEnd,
): void {
  const ended = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      if (!stop.aborted) log.error(errorFields(error), 'a loop of the daemon ended unexpectedly');
    }
  });
  // The stop waits for all loops, so that none of them uses a disposed part.
  running.defer(async () => {
    await Promise.all(ended);
  });
}
