import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy-interrupted'], ['4.1.4']);
