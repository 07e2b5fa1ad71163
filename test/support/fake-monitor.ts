import type { Monitor } from '../../src/events/kubernetes/monitor.ts';
import {
  OperationCounter,
  type SnapshotOperations,
} from '../../src/events/kubernetes/snapshot-operations.ts';
import type { KubernetesEvent, SnapshotItem } from '../../src/hooks/kubernetes-binding.ts';

/** A monitor whose objects and events a test makes up. */
export class FakeMonitor implements Monitor {
  readonly emit: (event: KubernetesEvent) => void;
  items: readonly SnapshotItem[] = [];
  isUnlocked = false;
  isStopped = false;
  readonly #start: () => Promise<void>;

  constructor(emit: (event: KubernetesEvent) => void, start: () => Promise<void>) {
    this.emit = emit;
    this.#start = start;
  }

  start(): Promise<void> {
    return this.#start();
  }

  snapshot(): readonly SnapshotItem[] {
    return this.items;
  }

  peek(): readonly SnapshotItem[] {
    return this.items;
  }

  operations(): SnapshotOperations {
    return new OperationCounter().read(this.items.length);
  }

  unlock(): void {
    this.isUnlocked = true;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
  }
}
