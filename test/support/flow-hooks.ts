import type { HookLog } from '../../src/sdk/hook-input.ts';

const ignore = (): void => undefined;

/** A log that nobody reads. */
export const silentHookLog: HookLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
