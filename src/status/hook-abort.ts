/** Which runs of a hook to end. */
export interface HookAbortRequest {
  /** Name of the hook, with `<module>/` in front where two hooks have the same. */
  readonly hook: string;
  /** Only runs in this queue; undefined: all. */
  readonly queue: string | undefined;
  /** Drop their tasks instead of retrying them. */
  readonly isDropped: boolean;
}

export type HookAbortOutcome =
  | { readonly type: 'aborted'; readonly runs: number }
  /** With the names of the hooks that do run. */
  | { readonly type: 'not-running'; readonly running: readonly string[] }
  | { readonly type: 'ambiguous'; readonly names: readonly string[] }
  /** Other tasks wait for the run: it is part of the run of a module, of a converge, or a Synchronization. */
  | { readonly type: 'not-droppable' };

/** Ends runs of a hook that are in progress. */
export type AbortHook = (request: HookAbortRequest) => HookAbortOutcome;
