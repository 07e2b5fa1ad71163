import type { HookLog } from '@addon-operator/sdk';

const ignore = (): void => undefined;

/** A log without a reader. */
export const silentHookLog: HookLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
