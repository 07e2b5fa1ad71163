import type { Settings } from '../settings.ts';

/** What bounds a run of a hook, or of an enabled script; undefined: nothing. */
export interface HookLimits {
  readonly timeoutMs: number | undefined;
  readonly maxOutputBytes: number | undefined;
}

/** The limits of the settings, where 0 means none. */
export function hookLimits({
  hookTimeoutMs,
  hookOutputLimitBytes,
}: Pick<Settings, 'hookTimeoutMs' | 'hookOutputLimitBytes'>): HookLimits {
  return {
    timeoutMs: hookTimeoutMs === 0 ? undefined : hookTimeoutMs,
    maxOutputBytes: hookOutputLimitBytes === 0 ? undefined : hookOutputLimitBytes,
  };
}
