import type { KubernetesBindingSpec, KubernetesEvent, SnapshotItem } from '../../hooks/kubernetes-binding.ts';
import type { ApiResource } from '../../kube/kube-object.ts';
import type { SharedReflectors } from '../../kube/reflector-sink.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { BindingWatches } from './binding-watches.ts';
import { EventGate } from './event-gate.ts';
import { createObjectFilter, type JqProgram } from './object-filter.ts';
import { ObjectStore } from './object-store.ts';
import { OperationCounter, type SnapshotOperations } from './snapshot-operations.ts';

/** Follows the objects of one binding: keeps its snapshot and emits its events. */
export interface Monitor {
  /**
   * Lists everything, with all selectors; resolves when the snapshot is complete. Events are held back until
   * {@link unlock}. Aborting `signal` ends the start, not a monitor that has started. A monitor is started once; when
   * that failed, it has stopped.
   *
   * @throws OperatorError KUBE_KIND_UNKNOWN when the API server does not serve the kind
   * @throws KubeApiError or OperatorError KUBE_UNREACHABLE when a list fails
   * @throws OperatorError JQ_COMPILE for a broken jqFilter, JQ_RUNTIME when it fails on an existing object
   */
  start(signal: AbortSignal): Promise<void>;
  /**
   * The current objects for a run of the hook, sorted by namespace and name. While the monitor is locked, reading drops the
   * events held back so far: what they tell is in the snapshot.
   */
  snapshot(): readonly SnapshotItem[];
  /** The same for onlookers: nothing is dropped or counted anew. */
  peek(): readonly SnapshotItem[];
  operations(): SnapshotOperations;
  /** Emits the events held back, in order, and from then on every event as it comes. */
  unlock(): void;
  /** Ends all watches; nothing is emitted afterwards. */
  stop(): Promise<void>;
}

/** What a monitor needs of the jq room. */
export interface JqCompiler {
  compile(program: string, signal: AbortSignal): Promise<JqProgram>;
}

export interface MonitorMetrics {
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
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly reflectors: SharedReflectors;
  readonly onEvent: (event: KubernetesEvent) => void;
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
  #store: ObjectStore | undefined;

  constructor(spec: KubernetesBindingSpec, deps: MonitorDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#gate = new EventGate((event) => {
      if (!this.#stopped.signal.aborted && spec.executeOnEvents.includes(event.watchEvent)) {
        deps.onEvent(event);
      }
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const giveUp = (): void => this.#stopped.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await this.#start(this.#stopped.signal);
    } catch (error) {
      this.#stopped.abort(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  snapshot(): readonly SnapshotItem[] {
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

  unlock(): void {
    this.#gate.open();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#deps.metrics?.snapshotGone(this.#spec.name);
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { find, jq, metrics } = this.#deps;
    const { name, apiVersion, kind, jqFilter = '' } = this.#spec;
    const resource = await find(apiVersion, kind, signal);
    const program = jqFilter === '' ? undefined : await jq.compile(jqFilter, signal);
    this.#store = new ObjectStore(this.#spec, resource.kind);
    const watches = new BindingWatches(
      {
        ...this.#deps,
        spec: this.#spec,
        log: this.#deps.log.child({ binding: name }),
        resource,
        store: this.#store,
        operations: this.#operations,
        filter: createObjectFilter(this.#spec, program && this.#timed(program)),
        emit: (event) => {
          this.#gate.pass(event);
          this.#countObjects();
        },
        onHandled: (durationMs) => metrics?.eventDuration(name, durationMs),
      },
      signal,
    );
    await watches.start();
    this.#countObjects();
  }

  #countObjects(): void {
    this.#deps.metrics?.snapshotObjects(this.#spec.name, this.#store?.size ?? 0);
  }

  #timed(program: JqProgram): JqProgram {
    const { clock, metrics } = this.#deps;
    return {
      apply: async (input, signal) => {
        const startedMs = clock.now();
        try {
          return await program.apply(input, signal);
        } finally {
          metrics?.filterDuration(this.#spec.name, clock.now() - startedMs);
        }
      },
    };
  }
}
