/**
 * The monitor of one `kubernetes` binding: an informer with filter and snapshot. The flow is reflector →
 * `binding-watches.ts` (which namespaces and names) → `selection-sink.ts` (filter, store, what changed) → here (is the
 * event wanted) → `event-gate.ts` (hold until the Synchronization is over) → `onEvent`, which queues hook runs
 * (`hook-runs/hook-parts.ts`). A start that fails stops the monitor for good; the caller creates a new one.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type {
  KubernetesBindingSpec,
  KubernetesEvent,
  SnapshotItem,
} from '../../hook-config/kubernetes-binding.ts';
import { BindingWatches } from './binding-watches.ts';
import { EventGate, type EventGateOptions } from './event-gate.ts';
import { createObjectFilter, type JqProgram } from './object-filter.ts';
import { ObjectStore } from './object-store.ts';
import { OperationCounter, type SnapshotOperations } from './snapshot-operations.ts';
import { type FilterFailure, UnfilteredObjects } from './unfiltered-objects.ts';
import type { WatchFailure } from './watch-health.ts';

/** Follows the objects of one binding: keeps its snapshot and emits its events. */
export interface Monitor {
  /**
   * Lists everything, with all selectors; resolves when the snapshot is complete. Events are held back until
   * {@link unlock}. Aborting `signal` ends the start, not a monitor that has started. A monitor is started once; when
   * that failed, it has stopped. An object on which the jqFilter fails is set aside: it is not in the snapshot, see
   * {@link health}, and is tried again.
   *
   * @throws OperatorError KUBE_KIND_UNKNOWN when the API server does not serve the kind
   * @throws KubeApiError or OperatorError KUBE_UNREACHABLE when a list fails
   * @throws OperatorError JQ_COMPILE for a broken jqFilter, JQ_UNAVAILABLE when no process of jq can be started
   */
  start(signal: AbortSignal): Promise<void>;
  /**
   * The current objects for a run of the hook, sorted by namespace and name. While the monitor is locked, reading drops the
   * events held back so far: their content is in the snapshot.
   */
  snapshot(): readonly SnapshotItem[];
  /** The same for onlookers: nothing is dropped or counted anew. */
  peek(): readonly SnapshotItem[];
  operations(): SnapshotOperations;
  /**
   * Holds events back again until {@link unlock}, beginning with those that were emitted but reached no hook. A read of
   * the snapshot drops them as it does at the start.
   */
  lock(missed: readonly KubernetesEvent[]): void;
  /** How far the snapshot can be trusted. */
  health(): BindingHealth;
  /** Emits the events held back, in order, and from then on every event as it comes. */
  unlock(): void;
  /** Ends all watches; nothing is emitted afterwards. */
  stop(): Promise<void>;
}

/** The problems of the snapshot of a binding, and when the API server last confirmed it. */
export interface BindingHealth {
  /** When the API server last confirmed the state, in milliseconds on the steady clock; undefined before the first list. */
  readonly lastActivityMs: number | undefined;
  /** Set while a watch of the binding cannot be opened. */
  readonly watchFailure: WatchFailure | undefined;
  /** Objects whose last state is not in the snapshot, since the filter fails on it. */
  readonly filterFailures: readonly FilterFailure[];
}

export const UNKNOWN_HEALTH: BindingHealth = {
  lastActivityMs: undefined,
  watchFailure: undefined,
  filterFailures: [],
};

/** The jq compiler, as a monitor uses it. */
export interface JqCompiler {
  compile(program: string, signal: AbortSignal): Promise<JqProgram>;
}

interface MonitorMetrics {
  /** Number of objects in the snapshot, after it changed. */
  snapshotObjects(binding: string, count: number): void;
  /** There is no snapshot any more: its monitor stopped. */
  snapshotGone(binding: string): void;
  /** Time jq took for one object. */
  filterDuration(binding: string, durationMs: number): void;
  /** Time from receiving a watch event to the end of its handling. */
  eventDuration(binding: string, durationMs: number): void;
}

export interface MonitorDeps {
  readonly find: (apiVersion: string | undefined, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  readonly jq: JqCompiler;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly reflectors: SharedReflectors;
  readonly onEvent: (event: KubernetesEvent) => void;
  /** Whether the snapshot is read before the monitor is unlocked; default: no, and all events are held until then. */
  readonly isReadFirst?: boolean;
  /** Drops the parts of an event that its hook does not receive. */
  readonly reduce?: (event: KubernetesEvent) => KubernetesEvent;
  readonly backlog?: EventGateOptions['backlog'];
  readonly owner?: EventGateOptions['owner'];
  readonly metrics?: MonitorMetrics;
}

export function createMonitor(spec: KubernetesBindingSpec, deps: MonitorDeps): Monitor {
  return new BindingMonitor(spec, deps);
}

class BindingMonitor implements Monitor {
  readonly #spec: KubernetesBindingSpec;
  readonly #deps: MonitorDeps;
  readonly #stopped = new AbortController();
  readonly #gate: EventGate;
  readonly #operations = new OperationCounter();
  readonly #unfiltered: UnfilteredObjects;
  #store: ObjectStore | undefined;
  #watches: BindingWatches | undefined;

  constructor(spec: KubernetesBindingSpec, deps: MonitorDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#unfiltered = new UnfilteredObjects(deps);
    this.#gate = new EventGate({
      emit: (event) => {
        if (!this.#stopped.signal.aborted) deps.onEvent(event);
      },
      isReadFirst: deps.isReadFirst ?? false,
      ...(deps.backlog && { backlog: deps.backlog }),
      ...(deps.owner && { owner: deps.owner }),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const abortStart = (): void => this.#stopped.abort(signal.reason);
    signal.addEventListener('abort', abortStart, { once: true });
    try {
      await this.#start(this.#stopped.signal);
    } catch (error) {
      this.#stopped.abort(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', abortStart);
    }
  }

  snapshot(): readonly SnapshotItem[] {
    // The snapshot contains what these events would report.
    this.#gate.drop();
    this.#operations.startExecution();
    return this.peek();
  }

  peek(): readonly SnapshotItem[] {
    return this.#store?.items() ?? [];
  }

  operations(): SnapshotOperations {
    return this.#operations.read(this.#store?.size ?? 0);
  }

  lock(missed: readonly KubernetesEvent[]): void {
    this.#gate.shut(missed);
  }

  health(): BindingHealth {
    const { lastActivityMs, failure } = this.#watches?.report ?? {
      lastActivityMs: undefined,
      failure: undefined,
    };
    return { lastActivityMs, watchFailure: failure, filterFailures: this.#unfiltered.failures() };
  }

  unlock(): void {
    this.#gate.open();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#gate.close();
    this.#deps.metrics?.snapshotGone(this.#spec.name);
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { find, jq, metrics } = this.#deps;
    const { name, apiVersion, kind, jqFilter = '' } = this.#spec;
    const resource = await find(apiVersion, kind, signal);
    const program = jqFilter === '' ? undefined : await jq.compile(jqFilter, signal);
    this.#store = new ObjectStore(this.#spec, resource.kind);
    this.#watches = new BindingWatches(
      {
        ...this.#deps,
        spec: this.#spec,
        log: this.#deps.log.child({ binding: name }),
        resource,
        store: this.#store,
        operations: this.#operations,
        unfiltered: this.#unfiltered,
        filter: createObjectFilter(this.#spec, program && this.#timed(program)),
        emit: (event) => {
          // An event that the binding does not want still changes the snapshot.
          if (this.#spec.executeOnEvents.includes(event.watchEvent))
            this.#gate.pass(this.#deps.reduce?.(event) ?? event);
          this.#countObjects();
        },
        onHandled: (durationMs) => metrics?.eventDuration(name, durationMs),
      },
      signal,
    );
    await this.#watches.start();
    this.#countObjects();
  }

  #countObjects(): void {
    this.#deps.metrics?.snapshotObjects(this.#spec.name, this.#store?.size ?? 0);
  }

  #timed(program: JqProgram): JqProgram {
    const { clock, metrics } = this.#deps;
    return {
      apply: async (input, signal) => {
        const startedMs = clock.steadyMs();
        try {
          return await program.apply(input, signal);
        } finally {
          metrics?.filterDuration(this.#spec.name, clock.steadyMs() - startedMs);
        }
      },
    };
  }
}
