/** The flag of a module in the ConfigMap after a request. */
export type SetFlagOutcome =
  /** `flag` is its key, such as `webEnabled`; `configMap` is `<namespace>/<name>`. */
  | { readonly type: 'set' | 'unchanged'; readonly flag: string; readonly configMap: string }
  | { readonly type: 'unknown' };

/** Enables or disables a module by its flag in the ConfigMap. @throws the errors of the API client */
export type SetFlag = (module: string, isEnabled: boolean, signal: AbortSignal) => Promise<SetFlagOutcome>;
