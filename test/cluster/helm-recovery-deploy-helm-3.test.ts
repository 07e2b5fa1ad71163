import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy'], ['3.17.3']);
