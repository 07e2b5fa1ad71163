import type { KubernetesEvent } from '../../hooks/kubernetes-binding.ts';

/**
 * Holds events back until it is opened. While it is shut, taking a snapshot makes the held ones superfluous: whoever reads
 * the state gets exactly the events that are newer.
 */
export class EventGate {
  readonly #emit: (event: KubernetesEvent) => void;
  #held: KubernetesEvent[] | undefined = [];

  constructor(emit: (event: KubernetesEvent) => void) {
    this.#emit = emit;
  }

  pass(event: KubernetesEvent): void {
    if (this.#held === undefined) this.#emit(event);
    else this.#held.push(event);
  }

  /** Drops the held events; no effect once open. */
  drop(): void {
    if (this.#held !== undefined) this.#held = [];
  }

  /** Emits the held events in order, and from now on every event at once. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#emit(event);
  }
}
