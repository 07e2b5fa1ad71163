/** Converts the limits of hook runs from settings, where 0 means none, to optional fields. */

import type { HookRunSettings } from './hook-settings.ts';

/** The limits of a run of a hook or of an enabled script; undefined: none. */
export interface HookLimits {
  readonly timeoutMs: number | undefined;
  readonly maxOutputBytes: number | undefined;
}

/** The limits of the settings, where 0 means none. */
export function hookLimits({
  hookTimeoutMs,
  hookOutputLimitBytes,
}: Pick<HookRunSettings, 'hookTimeoutMs' | 'hookOutputLimitBytes'>): HookLimits {
  return {
    timeoutMs: hookTimeoutMs === 0 ? undefined : hookTimeoutMs,
    maxOutputBytes: hookOutputLimitBytes === 0 ? undefined : hookOutputLimitBytes,
  };
}
