import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy'], ['4.1.4']);
