import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy-interrupted'], ['3.17.3']);
