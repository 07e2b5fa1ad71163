import type { KubeObject } from '../../kube/kube-object.ts';
import type { ReflectorEvent, ReflectorSink } from '../../kube/reflector-sink.ts';
import type { WatchHealth } from './watch-health.ts';

export interface NamespaceSinkOptions {
  /** The namespaces of the initial state. */
  readonly onInitial: (names: readonly string[]) => void;
  readonly onAppear: (name: string) => void;
  /** The namespace was deleted, or its labels do not match any more. */
  readonly onVanish: (name: string) => void;
  readonly health: WatchHealth;
}

/** Tells which namespaces come and go; changes of a namespace that stays are ignored. */
export class NamespaceSink implements ReflectorSink {
  readonly #options: NamespaceSinkOptions;
  #staged: string[] = [];

  constructor(options: NamespaceSinkOptions) {
    this.#options = options;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged.push(...objects.map(({ metadata }) => metadata.name));
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    this.#options.health.heard();
    this.#options.onInitial(this.#staged);
    this.#staged = [];
  }

  async apply(event: ReflectorEvent): Promise<void> {
    const name = event.key.slice(event.key.indexOf('/') + 1);
    if (event.type === 'Added') this.#options.onAppear(name);
    if (event.type === 'Deleted') this.#options.onVanish(name);
  }

  heard(): void {
    this.#options.health.heard();
  }

  failed(error: unknown): void {
    this.#options.health.failed(error);
  }
}
