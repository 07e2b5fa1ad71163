import type { FlowPass } from '../extensions/flow/flow-pass.ts';
import type { Hook } from '../hooks/hook.ts';
import type { Module } from '../modules/module.ts';
import type { ReleaseFacts } from '../status/module-facts.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import type { HookRuntime } from './hook-runtime.ts';
import {
  hasBeenReady,
  hasDeployFailed,
  hooksOf,
  isDeployed,
  isStarted,
  isUnfinished,
  type ModuleEvent,
  type ModuleStageName,
  type ModuleState,
  mustRepeatStartup,
  NEW_MODULE,
  phaseOf,
  type Stall,
  stallOf,
  transition,
} from './module-state.ts';
import type { Readiness } from './probe-readiness.ts';
import { RunHistory } from './run-history.ts';
import { Synchronization } from './synchronization.ts';
import type { ConvergeEvent } from './tasks.ts';

export interface OngoingReconcile {
  /** Its task, as it was first queued. */
  readonly task: object;
  readonly step: ReconcileStep;
  readonly operation: ModuleOperation | undefined;
  readonly flow: FlowPass;
}

/** The part of a module that a run or a deletion has come to. */
export type ModulePart =
  | { readonly type: 'hook'; readonly hook: Hook; readonly binding: string }
  | { readonly type: 'requirements' };

/** The work of a reconcile: one of these. */
export type ReconcileStep = 'abort' | 'force-reconcile' | 'delete' | 'reconcile';

/** The section of the ConfigMap that a module accepted, with its warnings. */
export interface AcceptedSettings {
  /** Canonical JSON. */
  readonly section: string;
  readonly warnings: readonly string[];
}

/** Facts about the release of a module that are known without a request to the cluster. */
class KnownRelease {
  #deployed: ReleaseFacts | undefined;
  #isKept = false;
  #activation: ConvergeEvent | '' = '';

  /** The last deployment; undefined before the first. */
  get deployed(): ReleaseFacts | undefined {
    return this.#deployed;
  }

  /** The release is annotated to stay when the module is gone. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /**
   * The converge event of the last helm run, for metrics; empty if it belonged to no converge.
   */
  get activation(): ConvergeEvent | '' {
    return this.#activation;
  }

  noteDeploy(activation: ConvergeEvent | ''): void {
    this.#activation = activation;
  }

  noteDeployed(release: ReleaseFacts): void {
    this.#deployed = release;
  }

  noteKept(isKept: boolean): void {
    this.#isKept = isKept;
  }
}

/**
 * A module while it is enabled, or until its deletion is complete. Tasks of the module read and
 * change it; its state changes only by events, see `module-state.ts`. The other members (history,
 * release, readiness, settings) are records that decide nothing in the state.
 */
export class TrackedModule {
  #module: Module;
  #state = NEW_MODULE;
  #ongoing: OngoingReconcile | undefined;
  #synchronization = new Synchronization();
  #history = new RunHistory();
  #part: ModulePart | undefined;
  #failedPart: ModulePart | undefined;
  #release = new KnownRelease();
  #readiness: Readiness | undefined;
  #settings: AcceptedSettings | undefined;

  constructor(module: Module) {
    this.#module = module;
  }

  /** As it was last read from disk. */
  get module(): Module {
    return this.#module;
  }

  get state(): ModuleState {
    return this.#state;
  }

  get phase(): ModuleStageName {
    return phaseOf(this.#state);
  }

  /** In name order; undefined until their configuration was requested. */
  get hooks(): readonly HookRuntime[] | undefined {
    return hooksOf(this.#state);
  }

  /**
   * Why it is not retried until something changes; undefined while it is retried or does not have
   * to be.
   */
  get stall(): Stall | undefined {
    return stallOf(this.#state);
  }

  get hasDeployFailed(): boolean {
    return hasDeployFailed(this.#state);
  }

  get isUnfinished(): boolean {
    return isUnfinished(this.#state);
  }

  get isStarted(): boolean {
    return isStarted(this.#state);
  }

  get isDeployed(): boolean {
    return isDeployed(this.#state);
  }

  get hasBeenReady(): boolean {
    return hasBeenReady(this.#state);
  }

  get mustRepeatStartup(): boolean {
    return mustRepeatStartup(this.#state);
  }

  get synchronization(): Synchronization {
    return this.#synchronization;
  }

  get history(): RunHistory {
    return this.#history;
  }

  get release(): KnownRelease {
    return this.#release;
  }

  /** The last report of its readiness probe; undefined before, and without a probe. */
  get readiness(): Readiness | undefined {
    return this.#readiness;
  }

  noteReadiness(readiness: Readiness): void {
    this.#readiness = readiness;
  }

  /** The section of the ConfigMap that its hooks have accepted last; undefined before, and without a check. */
  get settings(): AcceptedSettings | undefined {
    return this.#settings;
  }

  noteSettings(settings: AcceptedSettings): void {
    this.#settings = settings;
  }

  /** The reconcile whose task runs, or waits for other tasks; undefined if there is none. */
  get ongoing(): OngoingReconcile | undefined {
    return this.#ongoing;
  }

  /** The part that failed in the last failed attempt; undefined if another part failed. */
  get failedPart(): ModulePart | undefined {
    return this.#failedPart;
  }

  /** @param part undefined after one of these parts */
  enterPart(part: ModulePart | undefined): void {
    this.#part = part;
  }

  /** The attempt failed in the part that it had reached. */
  noteFailure(message: string): void {
    this.#history.noteError(message);
    this.#failedPart = this.#part;
    this.#part = undefined;
  }

  /** Takes the module over as it was read again. */
  reload(module: Module): void {
    this.#module = module;
  }

  apply(event: ModuleEvent): void {
    this.#state = transition(this.#state, event);
  }

  startReconcile(ongoing: OngoingReconcile): void {
    // An abort has to see whether the last run stalled: it must not clear that.
    if (ongoing.step !== 'abort') this.apply({ type: 'attempt-started' });
    this.#ongoing = ongoing;
    this.#part = undefined;
  }

  endReconcile(): void {
    this.#ongoing = undefined;
  }

  /**
   * Resets all but the hooks. If the module is enabled again before the deletion is complete, it
   * starts from the beginning.
   */
  startDeletion(): void {
    this.apply({ type: 'deletion-started' });
    this.#ongoing = undefined;
    this.#synchronization = new Synchronization();
    this.#history = new RunHistory();
    this.#release = new KnownRelease();
    this.#readiness = undefined;
    this.#settings = undefined;
  }
}
