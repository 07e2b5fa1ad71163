import { readDriftPolicy } from '@addon-operator/helm-releases/drift/drift-policy';
import { nextReleaseAction } from '@addon-operator/helm-releases/release-action';

const desired = { inputDigest: 'new', readsOutside: false, helmTimeoutMs: 300_000 };
const deployed = { state: 'deployed', own: 'complete', unchangedMs: 0 } as const;
console.log(nextReleaseAction({ ...deployed, inputDigest: 'new' }, desired));
console.log(nextReleaseAction({ ...deployed, inputDigest: 'old' }, desired));
const left = { state: 'pending-upgrade', own: 'cut-off', inputDigest: undefined, unchangedMs: 0 } as const;
console.log(nextReleaseAction(left, desired));

const problems: string[] = [];
console.log(readDriftPolicy({ mode: 'heal', ignore: ['/spec/replicas', 'replicas'] }, problems));
console.log(problems);
