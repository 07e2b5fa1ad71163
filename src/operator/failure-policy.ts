/**
 * What a failing module holds up. `block`: everything behind it, the strict order of the lifecycle. `isolate`: only what
 * requires it; its tasks wait in a queue of its own.
 */
export type FailurePolicy = 'block' | 'isolate';
