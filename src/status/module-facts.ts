import type { ModuleExplanation } from './module-explanation.ts';

/** So many runs of hooks are remembered of a module, and shown. */
export const MAX_HOOK_RUNS = 10;

/** One run of a hook. */
export interface HookRunFacts {
  readonly hook: string;
  /** The kind of binding it ran for, such as `beforeHelm`. */
  readonly binding: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Why it failed; undefined after a success. */
  readonly error: string | undefined;
}

/** Facts about a module's release that are known without a request to the cluster. */
export interface ReleaseFacts {
  readonly revision: number;
  /** Of chart and values; undefined for a release that says nothing about it. */
  readonly digest: string | undefined;
}

/** The facts from which a Module object is built. */
export interface ModuleFacts {
  readonly explanation: Omit<ModuleExplanation, 'release'>;
  /** Undefined until the daemon has dealt with the release. */
  readonly release: ReleaseFacts | undefined;
  /** The module ran to its end since it was enabled, and nothing is known to have failed since. */
  readonly isDeployed: boolean;
  /** The progress of a module without problems: `pending` means that it is queued after a change. */
  readonly progress: 'none' | 'pending' | 'running';
  /** When the last reconcile began that had something to do, in milliseconds since the epoch; undefined before. */
  readonly reconciledAtMs: number | undefined;
  /** The newest first, one for each binding of a hook. */
  readonly hookRuns: readonly HookRunFacts[];
}
