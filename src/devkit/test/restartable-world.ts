import type {
  Action,
  ObjectName,
  ReplayFacts,
  StepFacts,
  TestWorld,
} from '../../tools/hook-test/hook-test.ts';
import type { HookWorld } from './hook-world.ts';

/** A hook in operation, and how that is ended. */
export interface OpenedWorld {
  readonly world: HookWorld;
  readonly end: () => Promise<void>;
}

/** A world in which the operator can be started again: the cluster and the time stay, and what was in memory is gone. */
export class RestartableWorld implements TestWorld {
  readonly #open: (isFirst: boolean) => Promise<OpenedWorld>;
  readonly #onContexts: (contexts: readonly unknown[]) => void;
  #current: OpenedWorld;

  private constructor(
    open: (isFirst: boolean) => Promise<OpenedWorld>,
    onContexts: (contexts: readonly unknown[]) => void,
    current: OpenedWorld,
  ) {
    this.#open = open;
    this.#onContexts = onContexts;
    this.#current = current;
  }

  /**
   * @param open starts the operator, for the first time or again
   * @param onContexts called with the binding contexts that the hook was given
   */
  static async open(
    open: (isFirst: boolean) => Promise<OpenedWorld>,
    onContexts: (contexts: readonly unknown[]) => void,
  ): Promise<RestartableWorld> {
    return new RestartableWorld(open, onContexts, await open(true));
  }

  async perform(action: Action): Promise<StepFacts> {
    const facts = await this.#perform(action);
    this.#onContexts(facts.runs.flatMap(({ contexts }) => contexts));
    return facts;
  }

  async #perform(action: Action): Promise<StepFacts> {
    if (action.restart === undefined) return await this.#current.world.perform(action);
    await this.#current.end();
    this.#current = await this.#open(false);
    return await this.#current.world.perform({ start: true });
  }

  async object(wanted: ObjectName): Promise<unknown> {
    return await this.#current.world.object(wanted);
  }

  values(): unknown {
    return this.#current.world.values();
  }

  configValues(): unknown {
    return this.#current.world.configValues();
  }

  pending(): readonly string[] {
    return this.#current.world.pending();
  }

  async replay(path: string): Promise<ReplayFacts> {
    const { contexts, ...facts } = await this.#current.world.replay(path);
    this.#onContexts(contexts);
    return facts;
  }

  /** Resolves when nothing of it runs any more. */
  async end(): Promise<void> {
    await this.#current.end();
  }
}
