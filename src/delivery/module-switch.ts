/** A change of the version of a module, whose content is in the store. */
export interface SwitchRequest {
  readonly module: string;
  /** The name of its link, such as `030-web`. */
  readonly entry: string;
  readonly digest: string;
  readonly version: string;
  /** The section of the ConfigMap that replaces the current one, for a rollback with values. */
  readonly section?: string | undefined;
  /** Whether it ran before, and comes back by an explicit decision. Default false. */
  readonly isReturn?: boolean;
}

/** Why a version does not run yet, with the words for users. */
export interface SwitchRefusal {
  readonly type: 'refused';
  /**
   * `NotLoadable`: files or the `--config` of a hook are invalid. `SettingsInvalid`: the section of
   * the ConfigMap does not fit its schema. `WouldFail`: the API server refuses rendered objects, or a CRD
   * cannot be applied.
   */
  readonly reason: 'NotLoadable' | 'SettingsInvalid' | 'WouldFail';
  readonly message: string;
}

/** The version is in operation. */
interface Switched {
  readonly type: 'switched';
  /** CRDs that stay as a newer version has applied them, in sentences for users. */
  readonly keptCrds?: readonly string[];
}

export type SwitchOutcome = Switched | SwitchRefusal;

/**
 * Puts versions into operation while the operator runs. A switch is a task between runs: everything
 * of the new content is loaded and checked before a hook of the old content is stopped, and a
 * refused switch leaves the old version as it is.
 */
export interface ModuleSwitch {
  switch(request: SwitchRequest, signal: AbortSignal): Promise<SwitchOutcome>;
  /** Removes the link; the release goes by the deletion policy, as for a module that was disabled. */
  remove(entry: string, signal: AbortSignal): Promise<void>;
}
