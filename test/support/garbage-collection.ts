/**
 * Variables of programs in Go that tests start. Tests lack CPU time, not memory: each process collects no garbage before it
 * uses this much, which saves a fifth of the work of helm and of the control plane.
 */
export const GARBAGE_COLLECTION = { GOGC: 'off', GOMEMLIMIT: '1GiB' };
