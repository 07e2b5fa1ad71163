import type { Action, ObjectName, StepFacts, TestWorld } from '@addon-operator/hook-test';
import type { HookWorld } from './hook-world.ts';

/** A hook in operation, and how that is ended. */
export interface OpenedWorld {
  readonly world: HookWorld;
  readonly end: () => Promise<void>;
}

/** A world in which the operator can be started again: the cluster and the time stay, and what was in memory is gone. */
export class RestartableWorld implements TestWorld {
  readonly #open: (isFirst: boolean) => Promise<OpenedWorld>;
  readonly #onStep: (facts: StepFacts) => void;
  #current: OpenedWorld;

  private constructor(
    open: (isFirst: boolean) => Promise<OpenedWorld>,
    onStep: (facts: StepFacts) => void,
    current: OpenedWorld,
  ) {
    this.#open = open;
    this.#onStep = onStep;
    this.#current = current;
  }

  /**
   * @param open starts the operator, for the first time or again
   * @param onStep called with what came of each step
   */
  static async open(
    open: (isFirst: boolean) => Promise<OpenedWorld>,
    onStep: (facts: StepFacts) => void,
  ): Promise<RestartableWorld> {
    return new RestartableWorld(open, onStep, await open(true));
  }

  async perform(action: Action): Promise<StepFacts> {
    const facts = await this.#perform(action);
    this.#onStep(facts);
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

  /** Resolves when nothing of it runs any more. */
  async end(): Promise<void> {
    await this.#current.end();
  }
}
