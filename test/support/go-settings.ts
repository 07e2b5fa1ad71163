/**
 * Variables of programs in Go that tests start. Tests lack CPU time, not memory: each process collects no garbage before it
 * uses this much, which saves a fifth of the work of helm and of the control plane. One core for each saves the search of
 * idle threads for work: a third of what an idle control plane takes, and a tenth of a short helm.
 */
export const GO_SETTINGS = { GOGC: 'off', GOMEMLIMIT: '1GiB', GOMAXPROCS: '1' };
