import type { ApiState } from './api-state.ts';
import type { ResourceObject } from './resource-object.ts';
import type { SandboxLog } from './sandbox-log.ts';
import type { StoreChange } from './sandbox-store.ts';

/** Brings the cluster closer to what objects ask for. Called again whenever an object changes, so it may do one step. */
export interface Controller {
  readonly name: string;
  /** Called for an object that changed and still exists, and for every object at the start. */
  readonly reconcile?: (state: ApiState, storage: string, object: ResourceObject) => void;
  /** Called for an object that is gone. */
  readonly removed?: (state: ApiState, storage: string, object: ResourceObject) => void;
}

interface Work {
  readonly storage: string;
  readonly key: string;
  /** The last state of an object that is gone. */
  readonly gone: ResourceObject | undefined;
}

/** Feeds the changes of a store to controllers, in order, behind the request that made them. Idle without changes. */
export class ControllerLoop {
  readonly #state: ApiState;
  readonly #controllers: readonly Controller[];
  readonly #log: SandboxLog;
  readonly #unsubscribe: () => void;
  #work: Work[] = [];
  #isScheduled = false;
  #isStopped = false;

  constructor(state: ApiState, controllers: readonly Controller[], log: SandboxLog) {
    this.#state = state;
    this.#controllers = controllers;
    this.#log = log;
    this.#unsubscribe = state.store.subscribe((change) => this.#onChange(change));
    for (const { storage, key } of state.store.all()) this.#add({ storage, key, gone: undefined });
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
  }

  #onChange({ storage, key, type, object }: StoreChange): void {
    this.#add({ storage, key, gone: type === 'removed' ? object : undefined });
  }

  #add(work: Work): void {
    this.#work.push(work);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    const round = this.#work;
    this.#work = [];
    for (const work of round) {
      if (this.#isStopped) return;
      for (const controller of this.#controllers) this.#step(controller, work);
    }
  }

  #step(controller: Controller, { storage, key, gone }: Work): void {
    try {
      const object = this.#state.store.get(storage, key);
      if (gone !== undefined) controller.removed?.(this.#state, storage, gone);
      else if (object !== undefined) controller.reconcile?.(this.#state, storage, object);
    } catch (error) {
      this.#log.error({ error, controller: controller.name, storage, key }, 'sandbox controller failed');
    }
  }
}
