export { bundleOf, redacted } from './bundle.ts';
export { CHECKS, type DoctorFinding, findingsOf, findingsText, leftOut } from './checks.ts';
export type { ClusterFacts, DaemonFacts, DoctorFacts, MachineFacts, ReleaseSecretFacts } from './facts.ts';
export { machineFacts } from './machine-facts.ts';
