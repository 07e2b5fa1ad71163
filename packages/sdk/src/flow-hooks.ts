import { didYouMean } from '@addon-operator/json/similar-word';
import type { HookLog } from './hook-input.ts';

/** The places of a reconcile at which flow hooks may act, in the order they are passed. */
export const FLOW_HOOK_TYPES = [
  'Start',
  'DuringResponsibilityCheck',
  'AfterResponsibilityCheck',
  'ShouldReconcile',
  'BeforeAnyReconcile',
  'BeforeAbort',
  'BeforeForceReconcile',
  'BeforeDelete',
  'BeforeReconcile',
  'End',
] as const;

export type FlowHookType = (typeof FLOW_HOOK_TYPES)[number];

export type FlowPhase = 'Init' | 'Progressing' | 'Succeeded' | 'Failed' | 'Deleting';

/** The module that is reconciled. Times are milliseconds since the epoch. */
export interface FlowModule {
  readonly name: string;
  readonly path: string;
  /** Null when its directory says nothing about it. */
  readonly version: string | null;
  readonly isEnabled: boolean;
  readonly phase: FlowPhase;
  /** The requested operation; null without one, or before it is known. */
  readonly operation: 'reconcile' | 'force-reconcile' | 'abort' | null;
  /** When the last reconcile began that had something to do, this one included; null before the first. */
  readonly lastReconcileMs: number | null;
  /** Empty after a success. */
  readonly lastError: string;
  /** `reconcileEvery` of its module.yaml. */
  readonly reconcileEvery: string | null;
  /** The last deployed release; null before the first one. */
  readonly release: { readonly revision: number; readonly digest: string | null } | null;
}

/** Where the release of the module is. */
export interface FlowTarget {
  readonly namespace: string;
}

/** The argument of a flow hook. */
export interface FlowHookInput {
  /** Where in the reconcile it is called. */
  readonly type: FlowHookType;
  /** Undefined for `Start`: nothing is known yet. */
  readonly module: FlowModule | undefined;
  /** Undefined for `Start`. */
  readonly target: FlowTarget | undefined;
  /** For `End`: why the step failed; undefined after a success, and everywhere else. */
  readonly error: string | undefined;
  readonly log: HookLog;
  /** Aborts when the call is to end. */
  readonly signal: AbortSignal;
}

/** The result of a flow hook; each field left out is false or zero. */
export interface HookResult {
  /**
   * The reconcile ends here. For `DuringResponsibilityCheck` and `ShouldReconcile` false means that it goes on whatever
   * would be decided otherwise.
   */
  readonly abortReconcile?: boolean;
  /** The module is to be reconciled again at once. */
  readonly requeue?: boolean;
  /** The module is to be reconciled again after this many milliseconds; zero: not by this hook. */
  readonly requeueAfterMs?: number;
}

/** Undefined, also as what a promise resolves to, changes nothing. An error ends the reconcile. */
export type FlowHook = (
  input: FlowHookInput,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that says nothing need not return anything
) => HookResult | undefined | void | Promise<HookResult | undefined | void>;

/** A hook together with the places it is made for. */
export interface FlowHookSetup {
  readonly hook: FlowHook;
  readonly hookTypes: readonly FlowHookType[];
}

/** Flow hooks by the places at which they are called, each in the order it was registered. */
export class FlowHooks {
  readonly #entries: { readonly hook: FlowHook; readonly types: readonly FlowHookType[] }[] = [];
  #isSealed = false;

  /** Every registered hook with its places. */
  get entries(): readonly { readonly hook: FlowHook; readonly types: readonly FlowHookType[] }[] {
    return this.#entries;
  }

  /**
   * Has a hook called at all these places; without any it has no effect.
   *
   * @throws Error when the daemon runs already; TypeError for what is no function, or no place
   */
  registerHook(hook: FlowHook, ...types: readonly FlowHookType[]): this {
    if (this.#isSealed)
      throw new Error(
        'registerHook(): hooks can be registered only while their file is loaded, not during a reconcile or later',
      );
    if (typeof hook !== 'function')
      throw new TypeError(`registerHook(): the first argument must be a function, got ${typeof hook}`);
    for (const type of types) if (!FLOW_HOOK_TYPES.includes(type)) throw unknownType(type);
    if (types.length > 0) this.#entries.push({ hook, types: [...new Set(types)] });
    return this;
  }

  /** Registers a hook for the places it is made for. @throws as {@link registerHook} */
  registerHookSetup({ hook, hookTypes }: FlowHookSetup): this {
    return this.registerHook(hook, ...hookTypes);
  }

  /** The hooks of one place, in the order they were registered. */
  of(type: FlowHookType): readonly FlowHook[] {
    return this.#entries.filter(({ types }) => types.includes(type)).map(({ hook }) => hook);
  }

  /** From now on registering is an error. */
  seal(): this {
    this.#isSealed = true;
    return this;
  }
}

/** Authors may write JavaScript. */
function unknownType(type: unknown): TypeError {
  const meant = typeof type === 'string' ? didYouMean(type, FLOW_HOOK_TYPES) : '';
  return new TypeError(
    `registerHook(): unknown type ${JSON.stringify(type)}${meant}, expected one of ${FLOW_HOOK_TYPES.join(', ')}`,
  );
}
