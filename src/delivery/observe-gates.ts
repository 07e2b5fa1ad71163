import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { evaluateGate, type GateObservation, type GateProgress, NO_PROGRESS } from './evaluate-gate.ts';
import type { Gate, GateResult } from './gates.ts';
import { queryPrometheus } from './query-prometheus.ts';

interface GateObserverParts {
  readonly clock: SteadyClock;
  /** Why a module, or an object of its release, is not ready; undefined when all are. */
  readonly whyNotReady: (module: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Default: asks Prometheus. */
  readonly query?: typeof queryPrometheus;
}

/**
 * Observes gates and remembers how long each of them was good. After a restart of the operator that
 * time begins again: nothing that was not seen counts.
 */
export class GateObserver {
  readonly #parts: GateObserverParts;
  /** Progress by gate, of the version of each module that is observed. */
  readonly #observed = new Map<
    string,
    { readonly sinceMs: number; readonly progress: Map<string, GateProgress> }
  >();

  constructor(parts: GateObserverParts) {
    this.#parts = parts;
  }

  /** @param sinceMs when the version was put into operation: another time is another version */
  async observe(gate: Gate, module: string, sinceMs: number, signal: AbortSignal): Promise<GateResult> {
    const known = this.#observed.get(module);
    const { progress } = known?.sinceMs === sinceMs ? known : { progress: new Map<string, GateProgress>() };
    this.#observed.set(module, { sinceMs, progress });
    const key = JSON.stringify(gate);
    const observation = await this.#observation(gate, module, signal);
    const nowMs = this.#parts.clock.steadyMs();
    const evaluation = evaluateGate(gate, progress.get(key) ?? NO_PROGRESS, observation, nowMs);
    progress.set(key, evaluation.progress);
    return evaluation.result;
  }

  async #observation(gate: Gate, module: string, signal: AbortSignal): Promise<GateObservation> {
    const { clock, whyNotReady, query = queryPrometheus } = this.#parts;
    if (gate.type === 'query') return await query(gate, { clock }, signal);
    try {
      const reason = await whyNotReady(module, signal);
      return reason === undefined ? { type: 'ready' } : { type: 'not-ready', reason };
    } catch (error) {
      signal.throwIfAborted();
      return { type: 'unknown', reason: `its objects cannot be read: ${messageOf(error)}` };
    }
  }
}
