import type { KubeObject } from '../../kube/kube-object.ts';
import type { ReflectorEvent, ReflectorSink } from '../../kube/reflector-sink.ts';

/** The newest state of a selection that holds at most one object. */
export class LatestObject implements ReflectorSink {
  #staged: KubeObject | undefined;
  #current: KubeObject | undefined;
  #change = Promise.withResolvers<void>();

  /** Undefined while there is no such object. */
  get current(): KubeObject | undefined {
    return this.#current;
  }

  /** Resolves at the next change, or when somebody wakes whoever waits. */
  changed(): Promise<void> {
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged = objects[0] ?? this.#staged;
  }

  discard(): void {
    this.#staged = undefined;
  }

  commit(): void {
    this.#current = this.#staged;
    this.wake();
  }

  async apply(event: ReflectorEvent): Promise<void> {
    this.#current = event.type === 'Deleted' ? undefined : event.object;
    this.wake();
  }
}
