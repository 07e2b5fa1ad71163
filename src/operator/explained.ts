import type { OperatorWith } from './operator.ts';

/** What the state of modules is read from. */
export type Explained = OperatorWith<
  'registry' | 'converge' | 'globalHooks' | 'router' | 'operations',
  'clock' | 'queues' | 'pauses' | 'releases' | 'execution'
>;
