/** Which run of a hook is requested. */
export interface HookTriggerRequest {
  /** Name of the hook, with `<module>/` in front where two hooks have the same. */
  readonly hook: string;
  /** Name of a kubernetes or schedule binding, or `onStartup`. */
  readonly binding: string;
  /**
   * `KIND/NAMESPACE/NAME`, or `KIND/NAME` without a namespace: the event of this object in the snapshot of a kubernetes
   * binding. Undefined: the Synchronization of the binding.
   */
  readonly object: string | undefined;
}

export type HookTriggerOutcome =
  /** `ahead`: the number of tasks in front of it. */
  | { readonly type: 'queued'; readonly queue: string; readonly ahead: number }
  | { readonly type: 'refused'; readonly reason: string };

/** Queues one run of a hook. */
export type TriggerHook = (request: HookTriggerRequest) => HookTriggerOutcome;
