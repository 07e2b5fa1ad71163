import { every } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Schedules } from '../hook-runs/schedules.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HandOvers } from '../model/hand-overs.ts';
import type { Pauses } from '../model/pauses.ts';
import { onConfigChange } from '../operator/config-changes.ts';
import type { Operator } from '../operator/operator.ts';
import { DirectoryLooks, runLooks } from '../reconcile/directory-looks.ts';
import { handOverActions } from '../requests/hand-over-tasks.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { freeMemory } from './free-memory.ts';
import type { DaemonHost } from './host.ts';

const LIVE_TICK_MS = 10_000;
const CONFIG_CHECK_MS = 5_000;

export interface LoopParts {
  readonly operator: Operator;
  readonly configMap: ConfigMapStore;
  readonly schedules: Schedules;
  readonly pauses: Pauses;
  readonly handOvers: HandOvers;
  readonly metrics: OperatorMetrics;
  /** They show the state of modules, which these loops change too. */
  readonly objects: Pick<ModuleObjects, 'changed'> | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/** Starts everything that goes on by itself until the daemon stops. */
export function startLoops(host: DaemonHost, parts: LoopParts): void {
  const { operator, configMap, schedules, pauses, handOvers, metrics, objects, stop, running } = parts;
  const showLife = (): void => {
    metrics.liveTick();
    operator.execution.running.warnOfLong();
  };
  const checkConfig = (): void => {
    if (configMap.state.type !== 'valid' || operator.converge.isConfigRefused) metrics.configValuesError();
  };
  const loops = [
    configMap.watch((change) => {
      onConfigChange(operator, change);
      objects?.changed();
    }, stop),
    schedules.run(stop),
    pauses.watch(() => {
      onPausesChange(operator);
      objects?.changed();
    }, stop),
    pauses.follow(stop),
    runLooks(new DirectoryLooks(operator), host, stop),
    handOvers.run(handOverActions(operator, pauses), stop),
    every(host.clock, LIVE_TICK_MS, showLife, stop),
    every(host.clock, CONFIG_CHECK_MS, checkConfig, stop),
  ];
  endWith(host, loops, { stop, running });
}

/** Keeps the memory of the process small while it is at rest, as a standby is for days. */
export function startFreeingMemory(host: DaemonHost, end: LoopEnd): void {
  if (host.memory !== undefined) endWith(host, [freeMemory(host.clock, host.memory, end.stop)], end);
}

type LoopEnd = Pick<LoopParts, 'stop' | 'running'>;

function endWith({ log }: DaemonHost, loops: readonly Promise<void>[], { stop, running }: LoopEnd): void {
  const ended = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      if (!stop.aborted) log.error(errorFields(error), 'a loop of the daemon ended unexpectedly');
    }
  });
  running.defer(async () => {
    await Promise.all(ended);
  });
}
