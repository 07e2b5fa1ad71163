import { EventGate, type EventGateOptions } from '../../src/events/kubernetes/event-gate.ts';
import { type BindingHealth, type Monitor, UNKNOWN_HEALTH } from '../../src/events/kubernetes/monitor.ts';
import {
  OperationCounter,
  type SnapshotOperations,
} from '../../src/events/kubernetes/snapshot-operations.ts';
import type { KubernetesEvent, SnapshotItem } from '../../src/hook-config/kubernetes-binding.ts';

/** A monitor whose objects and events a test makes up. */
export class FakeMonitor implements Monitor {
  state: BindingHealth = UNKNOWN_HEALTH;
  items: readonly SnapshotItem[] = [];
  isUnlocked = false;
  isStopped = false;
  readonly #gate: EventGate;
  readonly #start: () => Promise<void>;

  constructor(options: EventGateOptions, start: () => Promise<void>) {
    this.#gate = new EventGate(options);
    this.#start = start;
  }

  /** The events that are held back. */
  get held(): readonly KubernetesEvent[] {
    return this.#gate.held;
  }

  emit(event: KubernetesEvent): void {
    this.#gate.pass(event);
  }

  start(): Promise<void> {
    return this.#start();
  }

  snapshot(): readonly SnapshotItem[] {
    this.#gate.drop();
    return this.items;
  }

  peek(): readonly SnapshotItem[] {
    return this.items;
  }

  operations(): SnapshotOperations {
    return new OperationCounter().read(this.items.length);
  }

  lock(missed: readonly KubernetesEvent[]): void {
    this.isUnlocked = false;
    this.#gate.shut(missed);
  }

  health(): BindingHealth {
    return this.state;
  }

  unlock(): void {
    this.isUnlocked = true;
    this.#gate.open();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.#gate.close();
  }
}
